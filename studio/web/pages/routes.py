"""The page routes. Each says who may open it; what it shows, its script asks of the API."""

import re
from typing import Final

from flask import Blueprint, abort, redirect, render_template, request, session, url_for
from flask.typing import ResponseReturnValue
from flask_login import current_user

from studio.services.ports import Role
from studio.web.guard import READERS, allow, public
from studio.web.login import own_address
from studio.web.pages.catalogue import LANGUAGES

pages = Blueprint("pages", __name__)

RULES: Final = frozenset({"pok_deng"})
"""Games with a page of rules."""


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
    return render_template("play.html", table=_named(table))


@pages.get("/history")
@allow(Role.PLAYER)
def history() -> ResponseReturnValue:
    """Show a player's own rounds."""
    return render_template("history.html")


@pages.get("/rules/<game>")
@public
def rules(game: str) -> ResponseReturnValue:
    """Explain a game; open to everybody, logged in or not."""
    if game not in RULES:
        abort(404)
    return render_template(f"rules_{game}.html")


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


def _named(name: str) -> str:
    if NAME.fullmatch(name) is None:
        abort(404)
    return name
