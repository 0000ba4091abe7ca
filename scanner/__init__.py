"""The card reader: a process of its own that tells the back office which card lies on the glass.

It shares only `studio.domain.cards` and `studio.domain.errors` with the studio and speaks to it
over the wire.
"""
