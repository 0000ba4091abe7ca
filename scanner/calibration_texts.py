"""What the set-up says, in both languages."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from scanner.calibration import (
    CONTRAST_MIN,
    FRAMES_PER_S_MIN,
    GLARE_MAX,
    MODULE_PX_MIN,
    PAPER_MIN,
    READ_MIN,
    SHARPNESS_MIN,
    Figures,
    Lies,
    Verdict,
)
from scanner.measure import Measures

LANGUAGES = ("en", "ja")
NOT_MEASURED = "–"

TEXTS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "Camera set-up",
        "profile": "Codes: {profile}",
        "picture": "What the camera sees",
        "picture_note": "The line round the card is green while its code reads. "
        "Cards other than the test card are covered.",
        "no_picture": "No picture yet.",
        "figures": "Figures of the last seconds",
        "next": "What to do next",
        "language": "Language",
        "skip": "To the figures",
        "gone": "The set-up program does not answer. Start it again, then this page goes on.",
        "no_script": "This page needs JavaScript. Without it, use: calibrate --once",
        "measuring": "Measuring ...",
        "need_least": "{0} needed",
        "need_most": "at most {0}",
        "figure.read": "Frames read",
        "figure.module_px": "Size of a module",
        "figure.sharpness": "Sharpness",
        "figure.contrast": "Contrast",
        "figure.paper": "Brightness of the paper",
        "figure.glare": "Reflection on the code",
        "figure.frames_per_s": "Frames a second",
        "figure.lies": "Under the camera",
        "value.read": "{read} of {frames}",
        "lies.nothing": "Nothing",
        "lies.unread": "A card that does not read",
        "lies.test_card": "The test card",
        "lies.piece": "Another card; it reads",
        "good": "good",
        "poor": "not yet",
        "verdict.camera_lost": "No picture: check the camera's cable, number or address, and that "
        "no scanner is using it.",
        "verdict.camera_frozen": "The picture stands still: pull the camera's plug and put it "
        "back, and take the cap off its lens.",
        "verdict.waiting": "Measuring ...",
        "verdict.dark": "Too dark: add light from the side. "
        "Paper is at {paper} of 255, {paper_min} needed.",
        "verdict.two_cards": "More than one card: take the others away.",
        "verdict.no_card": "No card: lay the test card under the camera, wholly in the picture, "
        "on something darker than paper.",
        "verdict.cut_off": "The card is cut off: move it or the camera until all of it is in "
        "the picture.",
        "verdict.too_small": "Move the camera nearer: {module_px} px a module, "
        "{module_px_min} needed.",
        "verdict.glare": "A lamp is reflected on the code: move the lamp to the side, or tilt "
        "the camera a little.",
        "verdict.washed_out": "Too bright: less light, or a shorter exposure.",
        "verdict.low_contrast": "Black is not black: wipe the glass and the lens, and keep light "
        "from shining into the lens.",
        "verdict.moving": "The picture moves: let the card lie still, and fasten the camera.",
        "verdict.blurred": "Out of focus: turn the lens until sharpness is highest, now "
        "{sharpness} %, {sharpness_min} % needed.",
        "verdict.no_code": "No code in view: turn the card face up, and see that it has the "
        "code of the settings ({profile}).",
        "verdict.slow": "Too slow: {frames_per_s} frames a second, {frames_per_s_min} needed. "
        "Add light, or choose a smaller picture.",
        "verdict.unread": "Not dependable yet: {read} of {frames} frames read. Wipe the glass, "
        "print the test card again, turn the card and look when it fails.",
        "verdict.ready": "Ready: {read} of {frames} frames read.",
    },
    "ja": {
        "title": "カメラの設定",
        "profile": "コード: {profile}",
        "picture": "カメラの映像",
        "picture_note": "コードを読めている間、カードの枠線は緑です。"
        "テストカード以外のカードは隠して表示します。",
        "no_picture": "まだ映像がありません。",
        "figures": "直近数秒の測定値",
        "next": "次にすること",
        "language": "言語",
        "skip": "測定値へ",
        "gone": "設定プログラムが応答しません。もう一度起動すると、この画面は続きから動きます。",
        "no_script": "この画面には JavaScript が必要です。使えない場合: calibrate --once",
        "measuring": "測定中…",
        "need_least": "{0} 以上が必要",
        "need_most": "{0} 以下",
        "figure.read": "読み取れたフレーム",
        "figure.module_px": "モジュールの大きさ",
        "figure.sharpness": "鮮明さ",
        "figure.contrast": "コントラスト",
        "figure.paper": "紙の明るさ",
        "figure.glare": "コードへの映り込み",
        "figure.frames_per_s": "毎秒フレーム数",
        "figure.lies": "カメラの下",
        "value.read": "{frames} 中 {read}",
        "lies.nothing": "なし",
        "lies.unread": "読み取れないカード",
        "lies.test_card": "テストカード",
        "lies.piece": "別のカード（読み取れています）",
        "good": "良好",
        "poor": "不足",
        "verdict.camera_lost": "映像がありません。カメラのケーブル、番号、アドレスを確認し、"
        "スキャナーが使用中でないことも確かめてください。",
        "verdict.camera_frozen": "映像が止まっています。カメラを抜き差しし、レンズのキャップを"
        "外してください。",
        "verdict.waiting": "測定中…",
        "verdict.dark": "暗すぎます。横から照明を足してください。紙の明るさ {paper}/255、"
        "{paper_min} 以上が必要です。",
        "verdict.two_cards": "カードが複数あります。1 枚だけ残してください。",
        "verdict.no_card": "カードがありません。紙より暗い面に置いたテストカードの全体が映るように"
        "してください。",
        "verdict.cut_off": "カードが画面からはみ出しています。全体が映るようにカードかカメラを"
        "動かしてください。",
        "verdict.too_small": "カメラを近づけてください。1 モジュール {module_px} px、"
        "{module_px_min} px 以上が必要です。",
        "verdict.glare": "照明がコードに映り込んでいます。照明を横へ移すか、カメラを少し傾けて"
        "ください。",
        "verdict.washed_out": "明るすぎます。照明を弱めるか、露光を短くしてください。",
        "verdict.low_contrast": "黒が薄く見えます。ガラスとレンズを拭き、レンズに光が直接入らない"
        "ようにしてください。",
        "verdict.moving": "映像が動いています。カードを動かさず、カメラを固定してください。",
        "verdict.blurred": "ピントが合っていません。鮮明さが最大になるまでレンズを回してください。"
        "現在 {sharpness} %、{sharpness_min} % 以上が必要です。",
        "verdict.no_code": "コードが見えません。カードを表向きにし、設定のコード（{profile}）と"
        "同じ種類か確かめてください。",
        "verdict.slow": "遅すぎます。毎秒 {frames_per_s} フレーム、{frames_per_s_min} 以上が"
        "必要です。照明を足すか、映像を小さくしてください。",
        "verdict.unread": "まだ安定していません。{frames} フレーム中 {read} を読み取りました。"
        "ガラスを拭き、テストカードを印刷し直し、カードを回して失敗する向きを調べてください。",
        "verdict.ready": "準備完了。{frames} フレーム中 {read} を読み取りました。",
    },
}


@dataclass(frozen=True, kw_only=True)
class FigureLine:
    """One figure as people read it."""

    code: str
    label: str
    value: str
    need: str
    good: bool | None
    """None where nothing is asked of it, or nothing was measured."""


@dataclass(frozen=True, kw_only=True)
class _Scale:
    """How a measured figure is written, and what it is held against."""

    code: str
    of: Callable[[Measures], float]
    bound: float
    written: Callable[[float], str]
    at_most: bool = False


def _percent(share: float) -> str:
    return f"{share * 100:.0f} %"


_SCALES = (
    _Scale(
        code="module_px",
        of=lambda measures: measures.module_px,
        bound=MODULE_PX_MIN,
        written="{:.1f} px".format,
    ),
    _Scale(
        code="sharpness",
        of=lambda measures: measures.sharpness,
        bound=SHARPNESS_MIN,
        written=_percent,
    ),
    _Scale(
        code="contrast",
        of=lambda measures: measures.contrast,
        bound=CONTRAST_MIN,
        written=_percent,
    ),
    _Scale(
        code="paper",
        of=lambda measures: measures.paper,
        bound=PAPER_MIN,
        written="{:.0f} / 255".format,
    ),
    _Scale(
        code="glare",
        of=lambda measures: measures.glare,
        bound=GLARE_MAX,
        written=_percent,
        at_most=True,
    ),
)


def say(verdict: Verdict, figures: Figures | None, *, language: str, profile: str) -> str:
    """Return a verdict as a sentence with its numbers."""
    values: dict[str, str] = {
        "profile": profile,
        "paper_min": f"{PAPER_MIN:.0f}",
        "module_px_min": f"{MODULE_PX_MIN:g}",
        "sharpness_min": f"{SHARPNESS_MIN * 100:.0f}",
        "frames_per_s_min": f"{FRAMES_PER_S_MIN:.0f}",
    }
    if figures is not None:
        values |= {
            "read": str(figures.read),
            "frames": str(figures.frames),
            "frames_per_s": f"{figures.frames_per_s or 0:.0f}",
        }
        values["paper"] = f"{figures.brightness:.0f}"
        if measures := figures.measures:
            values |= {
                "paper": f"{measures.paper:.0f}",
                "module_px": f"{measures.module_px:.1f}",
                "sharpness": f"{measures.sharpness * 100:.0f}",
            }
    return TEXTS[language][f"verdict.{verdict}"].format(**values)


def figure_lines(figures: Figures | None, *, language: str) -> tuple[FigureLine, ...]:
    """Return the figures as lines, always the same ones in the same order."""
    texts = TEXTS[language]
    need = texts["need_least"].format
    measures = figures.measures if figures else None
    read = rate = lies = NOT_MEASURED
    reads = quick = None
    if figures is not None:
        read = texts["value.read"].format(read=figures.read, frames=figures.frames)
        lies = texts[f"lies.{figures.lies}"]
        if figures.frames_per_s is not None:
            rate = f"{figures.frames_per_s:.0f}"
            quick = figures.frames_per_s >= FRAMES_PER_S_MIN
        if figures.lies is not Lies.NOTHING:
            reads = figures.read >= READ_MIN * figures.frames
    rows = (
        ("read", read, need(_percent(READ_MIN)), reads),
        *(_scale_row(scale, measures, texts=texts) for scale in _SCALES),
        ("frames_per_s", rate, need(f"{FRAMES_PER_S_MIN:.0f}"), quick),
        ("lies", lies, "", None),
    )
    return tuple(
        FigureLine(code=code, label=texts[f"figure.{code}"], value=value, need=needed, good=good)
        for code, value, needed, good in rows
    )


def _scale_row(
    scale: _Scale, measures: Measures | None, *, texts: Mapping[str, str]
) -> tuple[str, str, str, bool | None]:
    need = texts["need_most" if scale.at_most else "need_least"].format(scale.written(scale.bound))
    if measures is None:
        return scale.code, NOT_MEASURED, need, None
    value = scale.of(measures)
    good = value <= scale.bound if scale.at_most else value >= scale.bound
    return scale.code, scale.written(value), need, good
