"""The fit report and the count of label differences, from rows as they are written."""

import pytest

from duplexkit.builders.render import m3_events
from duplexkit.scenarios.event_table import expected
from duplexkit.scenarios.label_difference import label_differences, short_answers
from duplexkit.scenarios.timing_report import fit_reports, fit_table, measured_gaps
from tests.scenarios.dialogues import RATE_HZ, placed, plans


def row_of(done):
    """The columns of a written row that reports read."""

    def seconds(at):
        return None if at is None else at / RATE_HZ

    return {
        "language": done.plan.language,
        "sample_rate_hz": RATE_HZ,
        "provenance": {"timing_profile": done.plan.timing_profile},
        "turns": [
            {"role": said.role.value, "onset_s": t.onset / RATE_HZ, "offset_s": t.offset / RATE_HZ}
            for said, t in zip(done.plan.turns, done.timeline.turns, strict=True)
        ],
        "events": [
            {
                "kind": e.kind,
                "role": e.role.value,
                "onset_s": e.onset / RATE_HZ,
                "offset_s": e.offset / RATE_HZ,
                "turn": e.turn,
                "fto_s": e.fto_s,
                "intended_fto_s": e.intended_fto_s,
                "system_stop_s": seconds(e.system_stop),
                "expected_if_silent": expected(e)[1],
            }
            for e in done.annotation.events
        ],
        "m3_events": [
            {"kind": e.kind, "role": role, "onset_s": e.start_cs / 100, "offset_s": e.end_cs / 100}
            for role, events in m3_events(done.plan, done.timeline).items()
            for e in events
        ],
    }


@pytest.fixture(scope="module")
def rows():
    return [row_of(placed(plan)) for language in ("en", "ja") for plan in plans(language, 40)]


def test_the_report_measures_each_language_and_direction_apart(rows):
    reports = fit_reports(gap for row in rows for gap in measured_gaps(row))
    assert {(r.language, r.table) for r in reports} == {
        (language, table)
        for language in ("en", "ja")
        for table in ("user_to_system", "system_to_user", "barge_in_overlap")
    }
    for report in reports:
        blocks = 4
        assert report.n > 100
        assert report.ks_d <= blocks / report.n + report.n_clipped / report.n < report.ks_limit
        assert report.w1_s < 0.02
        assert (report.profile, report.sampling) == ("shared-shift-v1", "stratified")
    shifts = {r.table: r for r in reports if r.language == "en"}
    assert shifts["user_to_system"].median_s == pytest.approx(0.387, abs=0.02)
    assert shifts["user_to_system"].share_negative == pytest.approx(0.033, abs=0.01)
    assert shifts["barge_in_overlap"].share_negative == 0.0
    assert len(fit_table(reports)) == 7


def test_a_gap_that_is_not_the_drawn_one_counts_as_clipped(rows):
    row = {**rows[0], "events": [dict(event) for event in rows[0]["events"]]}
    for event in row["events"]:
        if event["kind"] == "shift" and event["fto_s"] > 0:
            event["offset_s"] += 0.05
    gaps = measured_gaps(row)
    assert sum(gap.clipped for gap in gaps) == sum(
        e["kind"] == "shift" and e["fto_s"] > 0 for e in row["events"]
    )


def test_rows_without_a_profile_have_no_report():
    assert measured_gaps({"provenance": {"timing_profile": None}, "events": []}) == ()


def test_intended_labels_and_m3s_agree_here_and_short_answers_are_counted(rows):
    counts = label_differences(rows)
    n_answers = sum(turn["role"] == "system" for row in rows for turn in row["turns"])
    assert short_answers(counts) == (0, n_answers)
    assert counts[("shift", "TURN_SHIFT")] == sum(e["kind"] == "shift" for row in rows for e in row["events"])
    assert counts[("barge_in", "BARGE_IN")] == sum(
        e["kind"] == "barge_in" for row in rows for e in row["events"]
    )
    # the second answer of each dialogue becomes as short as "Yes.": M3's rule takes it for a backchannel
    short = []
    for row in rows:
        answers = [t for t in row["turns"] if t["role"] == "system"]
        onset_s = answers[1]["onset_s"]
        events = [
            {**e, "kind": "BC"}
            if e["role"] == "system" and e["kind"] == "TURN" and abs(e["onset_s"] - onset_s) < 0.02
            else e
            for e in row["m3_events"]
            if not (e["kind"] == "TURN_SHIFT" and abs(e["offset_s"] - onset_s) < 0.02)
        ]
        short.append({**row, "m3_events": events})
    counts = label_differences(short)
    assert short_answers(counts) == (len(rows), n_answers)
    assert counts[("shift", "none")] == len(rows)


def test_rows_with_one_stem_have_no_m3_labels_and_are_left_out():
    assert label_differences([{"m3_events": None, "turns": [], "events": []}]) == {}


def test_events_that_name_no_turn_are_counted_by_their_times(rows):
    """Recordings have no plan, so their events say only when."""
    counts = label_differences(rows)
    bare = [{**row, "events": [{**event, "turn": None} for event in row["events"]]} for row in rows]
    assert label_differences(bare) == counts
    early = [e for row in rows for e in row["events"] if e["kind"] == "shift" and e["fto_s"] < 0]
    assert early and counts[("shift", "TURN_SHIFT")] > len(early)


def test_a_token_that_names_no_turn_is_a_token():
    turn = {"role": "system", "onset_s": 2.0, "offset_s": 2.4}
    token = {"kind": "backchannel", "role": "system", "onset_s": 2.0, "offset_s": 2.4, "turn": None}
    m3 = [{"kind": "BC", "role": "system", "onset_s": 2.0, "offset_s": 2.4}]
    row = {"turns": [turn], "events": [{**token, "fto_s": None}], "m3_events": m3}
    assert label_differences([row]) == {("token", "BC"): 1}
