"""Amounts as they come in, holds, payouts, and how they are written."""

from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from studio.domain.errors import MalformedError
from studio.domain.money import (
    CURRENCIES,
    STAKE_MINOR_MAX,
    hold_minor,
    parse_amount_minor,
    payout_minor,
)


@pytest.mark.parametrize("value", [1, 2, STAKE_MINOR_MAX - 1, STAKE_MINOR_MAX])
def test_a_positive_whole_number_is_an_amount(value):
    assert parse_amount_minor(value, name="stake_minor") == value


@pytest.mark.parametrize(
    ("value", "code"),
    [
        (0, "amount_not_positive"),
        (-1, "amount_not_positive"),
        (STAKE_MINOR_MAX + 1, "amount_too_large"),
        (10**30, "amount_too_large"),
        (1e30, "amount_not_integer"),
        (1.0, "amount_not_integer"),
        (float("nan"), "amount_not_integer"),
        ("100", "amount_not_integer"),
        ("１００", "amount_not_integer"),
        ("", "amount_not_integer"),
        (True, "amount_not_integer"),
        (None, "amount_not_integer"),
        ([100], "amount_not_integer"),
    ],
)
def test_anything_else_is_refused_and_the_field_is_named(value, code):
    with pytest.raises(MalformedError) as fault:
        parse_amount_minor(value, name="stake_minor")
    assert fault.value.code == code
    assert "stake_minor" in fault.value.message


nets = st.builds(Fraction, st.integers(-20, 110), st.integers(1, 20))


@given(st.integers(1, STAKE_MINOR_MAX), nets)
@settings(deadline=None)
def test_a_hold_covers_the_greatest_loss_and_less_than_a_unit_more(stake, exposure):
    exposure = abs(exposure)
    held = hold_minor(stake_minor=stake, exposure=exposure)
    assert stake * exposure <= held < stake * exposure + 1


@given(st.integers(1, STAKE_MINOR_MAX), nets)
@settings(deadline=None)
def test_a_payout_is_exact_but_for_less_than_a_unit_in_the_banks_favour(stake, net):
    held = hold_minor(stake_minor=stake, exposure=max(Fraction(1), -net))
    paid = payout_minor(stake_minor=stake, hold_minor=held, net=net)
    assert 0 <= held + stake * net - paid < 1
    assert paid >= 0


@pytest.mark.parametrize(
    ("code", "amount", "text"),
    [
        ("JPY", 0, "0"),
        ("JPY", 1_234_567, "1,234,567"),
        ("JPY", -5, "-5"),
        ("EUR", 5, "0.05"),
        ("EUR", -123_456, "-1,234.56"),
        ("THB", 100, "1.00"),
    ],
)
def test_an_amount_is_written_in_major_units(code, amount, text):
    assert CURRENCIES[code].format(amount) == text
