"""A profiler beside traces counts the calls that there are."""

DRIVER_CPROFILE = """
    import cProfile, json, pstats, sys
    profile = cProfile.Profile()
    profile.enable()
    import program
    profile.disable()
    stats = pstats.Stats(profile).stats
    counts = {key[2]: value[1] for key, value in stats.items() if key[0].endswith(("program.py", "helper.py"))}
    print(json.dumps([program.result, counts["called"], counts["generates"], sys.getprofile() is None]))
"""
DRIVER_SETPROFILE = """
    import json, sys
    depth, lowest, seen = 0, 0, []

    def profile(frame, event, argument):
        global depth, lowest
        if frame.f_code.co_filename.endswith(("program.py", "helper.py")):
            depth += {"call": 1, "return": -1}.get(event, 0)
            lowest = min(lowest, depth)
            seen.append(frame.f_code.co_name)

    sys.setprofile(profile)
    import program
    kept = sys.getprofile() is profile
    sys.setprofile(None)
    print(json.dumps([program.result, kept, depth, lowest, seen.count("called")]))
"""


def test_cprofile_counts_every_call(run, expected):
    """As often as the program calls it, in blocks and outside; the profiler can be taken off."""
    assert run(DRIVER_CPROFILE) == [expected, 11, 3, True]


def test_a_profile_function_sees_calls_and_returns_in_pairs(run, expected):
    """It stays installed, and no call or return of the program is lost."""
    assert run(DRIVER_SETPROFILE) == [expected, True, 0, 0, 22]
