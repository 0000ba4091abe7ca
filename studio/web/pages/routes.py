"""The page routes. Each says who may open it; what it shows, its script asks of the API."""

import re
from collections.abc import Mapping
from typing import Final

from flask import (
    Blueprint,
    abort,
    current_app,
    redirect,
    render_template,
    request,
    session,
    url_for,
)
from flask.typing import ResponseReturnValue
from flask_login import current_user

from studio.domain.game import Json
from studio.games import GAMES, by_code
from studio.services.ports import Role
from studio.services.setup import TableSetup
from studio.web.guard import READERS, allow, person, public
from studio.web.login import own_address
from studio.web.pages.catalogue import LANGUAGES
from studio.web.pages.game_rules import changes_of, link_limits, more_about, terms_of
from studio.web.studio import studio

pages = Blueprint("pages", __name__)

HOME: Final = {
    Role.PLAYER: "pages.play",
    Role.DEALER: "pages.station",
    Role.PIT_SUPERVISOR: "pages.pit",
    Role.AUDITOR: "pages.pit",
    Role.ADMINISTRATOR: "pages.admin",
}
NAME: Final = re.compile(r"[A-Za-z0-9_-]{1,64}")
"""What a table or round may be called in an address."""


@pages.get("/")
@public
def home() -> ResponseReturnValue:
    """Send everybody to their own screen."""
    if not current_user.is_authenticated:
        return redirect("/login")
    return redirect(url_for(HOME[Role(current_user.role)]))


@pages.get("/play")
@allow(Role.PLAYER)
def play() -> ResponseReturnValue:
    """List the tables."""
    return render_template("lobby.html")


@pages.get("/play/<table>")
@allow(Role.PLAYER)
def play_table(table: str) -> ResponseReturnValue:
    """Show one table to a player."""
    setup = _setups().get(_named(table))
    address = url_for("pages.rules_list")
    if setup is not None and _has_rules(setup.game):
        address = url_for("pages.rules", game=setup.game)
    return render_template("play.html", table=table, rules_address=address, look=_look())


@pages.get("/rooms")
@allow(Role.PLAYER)
def rooms() -> ResponseReturnValue:
    """Show a player's room, or the ways into one."""
    _need_play_money()
    return render_template("rooms.html", code="")


@pages.get("/rooms/join/<code>")
@allow(Role.PLAYER)
def join_room(code: str) -> ResponseReturnValue:
    """Ask whether to follow an invitation; looking at it joins nothing."""
    _need_play_money()
    return render_template("rooms.html", code=_named(code))


@pages.get("/club")
@allow(Role.PLAYER)
def club() -> ResponseReturnValue:
    """Show a player's medals, the shop and what is in use."""
    _need_play_money()
    return render_template("club.html")


@pages.get("/history")
@allow(Role.PLAYER)
def history() -> ResponseReturnValue:
    """Show a player's own rounds."""
    return render_template("history.html")


@pages.get("/rules")
@public
def rules_list() -> ResponseReturnValue:
    """Lead to the rules of the one game that is played here, or list them all."""
    tables: dict[str, list[str]] = {}
    for setup in _setups().values():
        if _has_rules(setup.game):
            tables.setdefault(setup.game, []).append(setup.name)
    if len(tables) == 1:
        return redirect(url_for("pages.rules", game=next(iter(tables))))
    return render_template("rules.html", tables=tables)


@pages.get("/rules/<game>")
@public
def rules(game: str) -> ResponseReturnValue:
    """Explain a game; open to everybody, logged in or not."""
    plugin = by_code(GAMES).get(game)
    if plugin is None or not _has_rules(game):
        abort(404)
    setups = tuple(_setups().values())
    return render_template(
        _rules_template(game),
        terms=terms_of(plugin, setups),
        changes=changes_of(plugin, setups),
        limits=link_limits(plugin, setups),
        **more_about(game),
    )


@pages.get("/station")
@allow(Role.DEALER)
def station() -> ResponseReturnValue:
    """Show the dealer's station, or the choice of a table."""
    table = request.args.get("table", "")
    return render_template("station.html", table=_named(table) if table else "")


@pages.get("/pit")
@allow(*READERS)
def pit() -> ResponseReturnValue:
    """Show every table and the alarms."""
    return render_template("pit.html")


@pages.get("/pit/rounds/<round_id>")
@allow(*READERS)
def pit_round(round_id: str) -> ResponseReturnValue:
    """Show one round to its last card and wager."""
    return render_template("round.html", round_id=_named(round_id))


@pages.get("/pit/shoes/<table>/<int:epoch>")
@allow(Role.PIT_SUPERVISOR, Role.AUDITOR)
def shoe_rounds(table: str, epoch: int) -> ResponseReturnValue:
    """Show the rounds of one shoe, to be refunded together where something was wrong with it."""
    return render_template("shoe_rounds.html", table=_named(table), epoch=epoch)


@pages.get("/pit/figures")
@allow(*READERS)
def figures() -> ResponseReturnValue:
    """Show revenue, returns and the quality of the scans over time."""
    return render_template("figures.html")


@pages.get("/pit/trail")
@allow(*READERS)
def trail() -> ResponseReturnValue:
    """Show the audit trail."""
    return render_template("trail.html")


@pages.get("/admin")
@allow(Role.ADMINISTRATOR)
def admin() -> ResponseReturnValue:
    """Show people, cash and deck sets."""
    return render_template("admin.html")


@pages.post("/language")
@public
def language() -> ResponseReturnValue:
    """Keep the chosen language and go back to the page it was chosen on."""
    chosen = request.form.get("language", "")
    if chosen not in LANGUAGES:
        abort(400)
    session["language"] = chosen
    return redirect(own_address(request.form.get("next", "/")), code=303)


def _look() -> Mapping[str, Json]:
    """Return what a player chose for the table, to be painted with the page; else nothing."""
    service = studio().club
    return service.options(person().id) if service is not None else {}


def _need_play_money() -> None:
    """Answer as for an address that is not there, where money is played for."""
    if studio().play is None:
        abort(404)


def _setups() -> Mapping[str, TableSetup]:
    return studio().tables.tables.setups


def _rules_template(game: str) -> str:
    return f"rules_{game}.html"


def _has_rules(game: str) -> bool:
    """Whether a registered game has a page of rules; a new one may come without."""
    return _rules_template(game) in current_app.jinja_env.list_templates()


def _named(name: str) -> str:
    if NAME.fullmatch(name) is None:
        abort(404)
    return name
