"""What happens under the camera of `bench scan`: a film of cards laid, covered, taken away.

A film is a row of episodes. In each a hand brings something, it lies still, and it is taken away;
sometimes the next card is laid on top without a gap. Everything comes from one seed.
"""

from collections.abc import Generator, Iterator
from dataclasses import dataclass, replace
from enum import StrEnum, unique

import cv2
import numpy as np
from cv2.typing import MatLike

from scanner.drawing import (
    LOOKS,
    Back,
    Pose,
    card_face,
    codeless_face,
    hand,
    lay,
    smudged,
    stamped_face,
)
from scanner.layout import LAYOUTS, Symbology
from studio.bench.scan_drawn import (
    DECK_SET,
    Felt,
    Studio,
    covered,
    foreign_modules,
    random_payload,
)
from studio.domain.cards import CodeVersion, PrintedCode

EXPOSURE = 0.2
"""Share of a frame's time that the shutter is open: sets the smear of a moving card."""
SMEAR_MAX_PX = 24
TRAVEL_PX = 420
SWAP_SHARE = 0.12
"""How often the next card is laid on this one without a gap."""
HAND_SHARE = 0.3
"""How often a hand passes over the card while it lies."""
SEVERITY_WEIGHTS = (0.2, 0.2, 0.2, 0.2, 0.14, 0.06)


@unique
class Scene(StrEnum):
    """What is brought."""

    CARD = "card"
    SMUDGED = "smudged card"
    BACK = "back"
    CUT_CARD = "cut card"
    TWO_CARDS = "two cards"
    OTHER_SET = "card of another deck set"
    FOREIGN = "foreign code"
    BADGE = "staff badge"
    HAND = "hand alone"


SCENE_WEIGHTS = {
    Scene.CARD: 0.68,
    Scene.SMUDGED: 0.04,
    Scene.BACK: 0.05,
    Scene.CUT_CARD: 0.05,
    Scene.TWO_CARDS: 0.04,
    Scene.OTHER_SET: 0.04,
    Scene.FOREIGN: 0.04,
    Scene.BADGE: 0.03,
    Scene.HAND: 0.03,
}


@dataclass(frozen=True, kw_only=True)
class Episode:
    """One thing brought and taken away."""

    number: int
    scene: Scene
    severity: int
    felt: Felt
    payload: str | None
    """The card that may be reported; None where none may."""
    after_swap: bool
    """Laid on the card before without a gap."""


@dataclass(frozen=True, kw_only=True)
class Take:
    """One frame of the film."""

    image: MatLike
    episode: Episode
    still: bool
    """The thing lies still and nothing is over it."""


def film(seed: int, symbology: Symbology) -> Iterator[Take]:
    """Yield frames without end, episode by episode."""
    rng = np.random.default_rng([seed, 2, len(symbology)])
    studio = Studio(rng)
    scenes, weights = tuple(SCENE_WEIGHTS), tuple(SCENE_WEIGHTS.values())
    number = 0
    below: _Laid | None = None
    while True:
        scene = scenes[int(rng.choice(len(scenes), p=weights))]
        episode = Episode(
            number=number,
            scene=scene,
            severity=below.severity if below else int(rng.choice(6, p=SEVERITY_WEIGHTS)),
            felt=below.felt if below else tuple(Felt)[number % len(Felt)],
            payload=random_payload(rng) if scene in {Scene.CARD, Scene.SMUDGED} else None,
            after_swap=below is not None,
        )
        below = yield from _Play(studio, episode, symbology, below=below).takes()
        number += 1


@dataclass(frozen=True, kw_only=True)
class _Laid:
    """A card that stays when the next one comes."""

    severity: int
    felt: Felt
    table: MatLike
    cloth: MatLike
    pose: Pose


class _Play:
    """Plays one episode."""

    def __init__(
        self, studio: Studio, episode: Episode, symbology: Symbology, *, below: _Laid | None
    ) -> None:
        """Draw what is brought."""
        self._studio = studio
        self._rng = studio.rng
        self._episode = episode
        self._symbology = symbology
        self._look = LOOKS[episode.severity]
        self._still_look = replace(self._look, motion_px=0)
        self._cloth = below.cloth if below else studio.table(episode.felt)
        self._table = below.table if below else self._cloth
        pose = studio.pose(tilt_deg=self._look.tilt_deg)
        self._pose = pose if below is None else replace(below.pose, angle_deg=pose.angle_deg)
        self._from_deg = float(self._rng.uniform(0, 360))
        self._face = self._draw_face()

    def takes(self) -> Generator[Take, None, "_Laid | None"]:
        """Yield the frames; return what stays for the next episode."""
        rng, scene = self._rng, self._episode.scene
        if scene is Scene.HAND:
            yield from self._hand_alone()
            return None
        # Of two cards that come one after the other the first would rightly be read: they come
        # and go under one hand.
        pair = scene is Scene.TWO_CARDS
        for share in np.linspace(1.0, 0.0, int(rng.integers(6, 11)), endpoint=False):
            yield self._hand_over() if pair else self._moving(float(share))
        lying = self._lying()
        yield from self._rest(lying, frames=int(rng.integers(10, 22)))
        if rng.random() < HAND_SHARE and not pair:
            yield from self._covered(lying, frames=int(rng.integers(3, 12)))
            yield from self._rest(lying, frames=int(rng.integers(4, 12)))
        if scene is Scene.CARD and rng.random() < SWAP_SHARE:
            episode = self._episode
            return _Laid(
                severity=episode.severity,
                felt=episode.felt,
                table=lying,
                cloth=self._cloth,
                pose=self._pose,
            )
        self._table = self._cloth
        for share in np.linspace(0.1, 1.0, int(rng.integers(4, 8))):
            yield self._hand_over() if pair else self._moving(float(share))
        yield from self._empty(frames=int(rng.integers(4, 9)))
        return None

    def _draw_face(self) -> MatLike | None:
        rng, episode = self._rng, self._episode
        match episode.scene:
            case Scene.CARD:
                assert episode.payload is not None
                return card_face(episode.payload, symbology=self._symbology)
            case Scene.SMUDGED:
                assert episode.payload is not None
                face = card_face(episode.payload, symbology=self._symbology)
                return _rubbed(face, self._symbology, rng)
            case Scene.BACK:
                return codeless_face(Back.PATTERN)
            case Scene.CUT_CARD:
                return codeless_face(Back.CUT_CARD)
            case Scene.OTHER_SET:
                other = random_payload(rng, deck_set=DECK_SET + 1)
                return card_face(other, symbology=self._symbology)
            case Scene.TWO_CARDS:
                return card_face(random_payload(rng), symbology=self._symbology)
            case Scene.FOREIGN:
                return stamped_face(foreign_modules("NOT A CARD", "QRCode"))
            case Scene.BADGE:
                badge = PrintedCode(
                    version=CodeVersion.BADGE, number=1, deck_set=0, serial=int(rng.integers(1, 99))
                )
                return card_face(badge.digits, symbology=self._symbology)
        return None

    def _lying(self) -> MatLike:
        assert self._face is not None
        scene = self._table
        if self._episode.scene is Scene.TWO_CARDS:
            second = card_face(random_payload(self._rng), symbology=self._symbology)
            shift = self._pose.width_px * 1.9
            left = self._pose.centre_x > scene.shape[1] / 2
            beside = self._pose.centre_x - shift if left else self._pose.centre_x + shift
            reach = self._pose.width_px * 0.9
            beside = float(np.clip(beside, reach, scene.shape[1] - reach))
            scene = lay(scene, second, pose=replace(self._pose, centre_x=beside))
        return lay(scene, self._face, pose=self._pose)

    def _moving(self, share: float) -> Take:
        """Return the frame in which the hand has the card this share of the way off its place."""
        assert self._face is not None
        angle = np.deg2rad(self._from_deg)
        away = TRAVEL_PX * share * share
        pose = replace(
            self._pose,
            centre_x=self._pose.centre_x + away * float(np.cos(angle)),
            centre_y=self._pose.centre_y + away * float(np.sin(angle)),
            angle_deg=self._pose.angle_deg + 25 * share,
        )
        scene = lay(self._table, self._face, pose=pose)
        radius = pose.width_px / 6
        tip = (pose.centre_x + pose.width_px * 0.45, pose.centre_y + pose.width_px * 0.6)
        scene = hand(scene, at_px=tip, radius_px=radius)
        smear = min(SMEAR_MAX_PX, round(2 * TRAVEL_PX * share / 8 * EXPOSURE))
        look = replace(self._look, motion_px=max(self._look.motion_px, smear))
        return self._take(self._studio.photographed(scene, look), still=False)

    def _rest(self, lying: MatLike, *, frames: int) -> Iterator[Take]:
        """Yield frames of the card as it lies: one picture, new noise each time."""
        glare = (self._pose.centre_x, self._pose.centre_y - self._pose.width_px * 0.5)
        seen = self._studio.seen(lying, self._still_look, glare_at=glare)
        for _ in range(frames):
            yield self._take(self._studio.noise(self._look.noise).on(seen), still=True)

    def _covered(self, lying: MatLike, *, frames: int) -> Iterator[Take]:
        reach = self._pose.width_px
        for share in np.linspace(0.8, -0.2, frames):
            tip = (self._pose.centre_x + reach * share, self._pose.centre_y + reach * share)
            scene = hand(lying, at_px=tip, radius_px=reach / 5)
            yield self._take(self._studio.photographed(scene, self._still_look), still=False)

    def _hand_over(self) -> Take:
        """Return a frame of an empty table with a hand over it."""
        tip = (self._pose.centre_x, self._pose.centre_y)
        scene = hand(self._cloth, at_px=tip, radius_px=self._pose.width_px / 5)
        return self._take(self._studio.photographed(scene, self._still_look), still=False)

    def _hand_alone(self) -> Iterator[Take]:
        for share in np.linspace(0.0, 1.0, 12):
            tip = (self._pose.centre_x + 200 * float(share), self._pose.centre_y)
            scene = hand(self._table, at_px=tip, radius_px=self._pose.width_px / 5)
            yield self._take(self._studio.photographed(scene, self._still_look), still=False)
        yield from self._empty(frames=5)

    def _empty(self, *, frames: int) -> Iterator[Take]:
        seen = self._studio.seen(self._cloth, self._still_look)
        for _ in range(frames):
            yield self._take(self._studio.noise(self._look.noise).on(seen), still=False)

    def _take(self, image: MatLike, *, still: bool) -> Take:
        return Take(image=image, episode=self._episode, still=still)


def _rubbed(face: MatLike, symbology: Symbology, rng: np.random.Generator) -> MatLike:
    """Return the face with both codes made unreadable."""
    if symbology is Symbology.QR:
        return smudged(face, rng)
    for box in LAYOUTS[symbology].code_boxes:
        for _ in range(3):
            covered(face, box, rng=rng, share=0.25)
    return cv2.GaussianBlur(face, (0, 0), 12.0)
