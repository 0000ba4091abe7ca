"""Why a card was not read, as scanners say it. Source: scanner notes, "Event rule"."""

from studio.domain.dealing import STAFF_BADGE

REASONS = frozenset(
    {
        "no_code",
        "unreadable",
        "two_cards",
        "foreign_symbology",
        "other_deck_set",
        "unknown_serial",
        STAFF_BADGE,
        "taken_away",
        "already_seen",
        "not_in_shoe",
    }
)
"""The last one comes from scanners of the first release, for the two it has become."""
