"""Joins the use cases with the real store, clock and chance."""

from collections.abc import Mapping
from pathlib import Path

from flask import Flask
from flask_socketio import SocketIO
from sqlalchemy import Engine

from studio.club_settings import club_data
from studio.domain.errors import MalformedError
from studio.games import GAMES, by_code
from studio.services.cash import CashService
from studio.services.clockwork import Clockwork
from studio.services.club import ClubService
from studio.services.club_data import ClubData
from studio.services.devices import DeviceService
from studio.services.disabling import DisablingService
from studio.services.evidence import EvidenceService
from studio.services.links import LinkWatch
from studio.services.live import LiveTables
from studio.services.people import Greet, LoginPolicy, PeopleService
from studio.services.pictures import PictureService
from studio.services.play_money import PlayMoney
from studio.services.ports import Publisher
from studio.services.proposing import Corrections
from studio.services.purse import smallest_bet_minor
from studio.services.reading import CardReading
from studio.services.reports import ReportService
from studio.services.setup import TableSetup
from studio.services.tables import TableService
from studio.services.wagers import WagerService
from studio.settings import Settings, currency_of, devices, load_settings, table_setups
from studio.settings_play import play_policy
from studio.signing import Signer
from studio.store.engine import make_engine
from studio.store.people import SqlPeopleUnits
from studio.store.schema import upgrade
from studio.store.units import SqlUnits
from studio.web.edge import Folders, make_edge
from studio.web.live import SocketPublisher
from studio.web.logs import init_logs
from studio.web.passwords import Argon2Hasher
from studio.web.studio import Studio
from studio.web.system import SystemClock, SystemRandomness

SQLITE = "sqlite:///"
ROOT = Path(__file__).resolve().parents[1]
MINUTE_MS = 60_000


def make_app(settings: Settings | None = None, *, async_mode: str = "threading") -> Flask:
    """Return the web application; see `app.create_app`."""
    settings = settings or load_settings()
    init_logs(settings.log_level)
    socketio = SocketIO()
    studio = make_studio(settings, SocketPublisher(socketio))
    folders = Folders(templates=str(ROOT / "templates"), static=str(ROOT / "static"))
    return make_edge(studio, socketio, folders=folders, async_mode=async_mode)


def make_studio(settings: Settings, publisher: Publisher) -> Studio:
    """Join the use cases with the real store, clock and chance."""
    games = by_code(GAMES)
    setups = table_setups(settings, games)
    currency = currency_of(settings)
    clock, randomness = SystemClock(), SystemRandomness()
    data = club_data(settings, games, setups)
    engine, units = open_store(settings.database_url, currency=currency.code)
    club = make_club(data, setups, units=units, publisher=publisher) if data else None
    play = make_play_money(settings, setups, units=units, publisher=publisher, club=club)
    live = LiveTables(setups, games)
    tables = TableService(
        units=units,
        tables=live,
        publisher=publisher,
        corrections=Corrections(live, settings.corrections.policy),
        reading=CardReading(randomness),
        on_settled=play.settled if play else None,
    )
    links = LinkWatch(runner=tables, clock=clock)
    people = make_people(settings, units, greet=play.greet if play else None)
    return Studio(
        settings=settings,
        clock=clock,
        currency=currency,
        people=people,
        tables=tables,
        links=links,
        clockwork=Clockwork(runner=tables, links=links),
        devices=DeviceService(runner=tables, links=links, reading=tables.reading),
        wagers=WagerService(
            units=units, setups=setups, games=games, publisher=publisher, play_money=bool(play)
        ),
        cash=CashService(units=units, publisher=publisher),
        disabling=DisablingService(units=units, publisher=publisher, games=tuple(games)),
        reports=ReportService(
            units=units,
            tables=tables.tables,
            names=lambda: {one.id: one.display_name for one in people.list()},
        ),
        evidence=EvidenceService(
            units=units, clock=clock, signer=Signer(settings.secret_key.get_secret_value())
        ),
        pictures=PictureService(units=units, publisher=publisher, setups=setups),
        play=play,
        club=club,
        known_devices=devices(settings),
        close=engine.dispose,
    )


def make_club(
    data: ClubData, setups: Mapping[str, TableSetup], *, units: SqlUnits, publisher: Publisher
) -> ClubService:
    """Join the club's use cases with the real store."""
    least_minor = smallest_bet_minor(setups, by_code(GAMES))
    return ClubService(units=units, data=data, publisher=publisher, least_minor=least_minor)


def make_play_money(
    settings: Settings,
    setups: Mapping[str, TableSetup],
    *,
    units: SqlUnits,
    publisher: Publisher,
    club: ClubService | None,
) -> PlayMoney | None:
    """Join what a play-money studio has beside the rest; None in a studio of money."""
    policy = play_policy(settings.play, currency_of(settings))
    if policy is None:
        return None
    return PlayMoney(
        policy=policy,
        units=units,
        setups=setups,
        games=by_code(GAMES),
        randomness=SystemRandomness(),
        publisher=publisher,
        club=club,
        plates=club.plates if club else None,
    )


def make_people(
    settings: Settings, units: SqlUnits, *, greet: Greet | None = None
) -> PeopleService:
    """Join the people's use cases with the real store, clock and chance."""
    return PeopleService(
        units=SqlPeopleUnits(units),
        clock=SystemClock(),
        randomness=SystemRandomness(),
        hasher=Argon2Hasher(),
        policy=LoginPolicy(
            idle_ms=settings.session.idle_minutes * MINUTE_MS,
            lifetime_ms=settings.session.lifetime_minutes * MINUTE_MS,
            failures_max=settings.login.failures_max,
            window_ms=settings.login.window_seconds * 1000,
        ),
        languages=settings.languages,
        games=tuple(by_code(GAMES)),
        greet=greet,
    )


def open_store(database_url: str, *, currency: str) -> tuple[Engine, SqlUnits]:
    """Open a database and bring its schema up to date.

    Raises:
        MalformedError: the address is wrong or the database can't be reached.
    """
    path = embedded_file(database_url)
    if path is not None:
        database_url = f"{SQLITE}{path}"
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise MalformedError(
                "database_unreachable", f"The folder {path.parent} can't be made: {error.strerror}"
            ) from error
    engine = make_engine(database_url)
    upgrade(engine)
    return engine, SqlUnits(engine, clock=SystemClock(), currency=currency)


def embedded_file(database_url: str) -> Path | None:
    """Return the file of an embedded database; a relative path is meant from the project."""
    is_file = database_url.startswith(SQLITE)
    return ROOT / database_url.removeprefix(SQLITE) if is_file else None
