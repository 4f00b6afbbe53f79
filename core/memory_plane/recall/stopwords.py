"""English words that say nothing about what is looked for; they are left out of queries, never out of the index."""

_WORDS = """
    a about after again all also am an and any anyone anything are as at be because been before being between
    both but by can could did do does doing done during each either else ever every for from further get gets
    give given go goes going got had has have having he her here hers him his how i if in into is isn't it its
    itself just know let lets like made make many may me might mine more most much must my myself need no nor
    not now of off on once only or other our ours out over own please said same say says she should since so
    some someone something such tell than that the their theirs them then there these they thing things this
    those through to too under until up upon us very want was we well were what what's when where where's
    whether which while who who's whom whose why will with would yet you your yours
"""
STOP_WORDS = frozenset(_WORDS.split())
