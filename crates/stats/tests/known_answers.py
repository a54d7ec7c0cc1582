"""Prints the values that tests/known_answers.rs expects, from independent implementations.

    python -m venv venv && venv/bin/pip install numpy==2.4.6 scipy==1.17.1 statsmodels==0.15.0
    venv/bin/python crates/stats/tests/known_answers.py

Nothing here shares code with the crate: scipy and statsmodels where they have the method, exact
rational arithmetic or numerical optimisation of the defining formula where they do not.
"""

import itertools
import math
from fractions import Fraction

import numpy as np
from scipy import integrate, optimize, special, stats
from statsmodels.regression.linear_model import OLS
from statsmodels.stats.contingency_tables import StratifiedTable, mcnemar
from statsmodels.stats.multitest import multipletests
from statsmodels.stats.proportion import proportion_confint
from statsmodels.stats.rates import confint_poisson


def show(title, rows):
    print(f"\n{title}")
    for row in rows:
        print("  (" + ", ".join(repr(float(x)) if isinstance(x, (float, np.floating)) else str(x) for x in row) + "),")


def interval(method, passed, total, confidence):
    low, high = proportion_confint(passed, total, alpha=1 - confidence, method=method)
    return float(low), float(high)


RATES = [(7, 10, 0.95), (0, 10, 0.95), (10, 10, 0.95), (26, 29, 0.95), (11, 29, 0.90), (59, 59, 0.90), (480, 500, 0.99)]
show("wilson: passed, total, confidence, low, high", [(*r, *interval("wilson", *r)) for r in RATES])
show("clopper_pearson: passed, total, confidence, low, high", [(*r, *interval("beta", *r)) for r in RATES])


def poisson(events, exposure, confidence):
    low, high = confint_poisson(events, exposure, method="exact-c", alpha=1 - confidence)
    return float(np.nan_to_num(low)), float(high)


POISSON = [(2, 30.0, 0.95), (0, 30.0, 0.90), (0, 8.5, 0.95), (1, 24.0, 0.95), (17, 12.25, 0.99), (400, 1000.0, 0.95)]
show("poisson_rate: events, exposure, confidence, low, high", [(*r, *poisson(*r)) for r in POISSON])
show("exposure_needed: events, rate, confidence, exposure",
     [(k, r, c, stats.chi2.ppf(c, 2 * k + 2) / (2 * r)) for k, r, c in [(0, 0.1, 0.95), (1, 0.1, 0.95), (3, 0.5, 0.9)]])
show("chi_square_quantile: df, p, x",
     [(df, p, stats.chi2.ppf(p, df)) for df, p in
      [(1.0, 0.95), (2.0, 0.5), (4.0, 0.025), (6.0, 0.975), (0.5, 0.01), (100.0, 0.999), (5000.0, 0.025), (4e6, 0.975)]])
show("chi_square_sf: df, x, p",
     [(df, x, stats.chi2.sf(x, df)) for df, x in [(1.0, 3.84), (3.0, 0.1), (10.0, 60.0), (200.0, 150.0)]])


def boschloo(a, n, b, m):
    return float(stats.boschloo_exact([[a, b], [n - a, m - b]], alternative="two-sided", n=256).pvalue)


BOSCHLOO = [(10, 10, 7, 10), (3, 10, 8, 10), (0, 10, 4, 10), (26, 29, 11, 29), (11, 29, 15, 29), (40, 60, 52, 60),
            (93, 100, 80, 100), (150, 150, 146, 150)]
show("boschloo: before of, after of, p", [(*r, boschloo(*r)) for r in BOSCHLOO])


def boschloo_dense(a, n, b, m):
    """Twice the smaller one-sided p, each maximised over a dense grid; no shgo, no scipy Boschloo."""
    def one_sided(a, n, b, m):
        x, y = np.arange(n + 1)[:, None], np.arange(m + 1)[None, :]
        fisher = stats.hypergeom.sf(y - 1, n + m, x + y, m)
        region = fisher <= fisher[a, b] * (1 + 1e-9)
        best = 0.0
        for angle in np.linspace(0, np.pi / 2, 4001):
            rate = math.sin(angle) ** 2
            best = max(best, stats.binom.pmf(x, n, rate)[:, 0] @ region @ stats.binom.pmf(y, m, rate)[0])
        return best
    return float(min(1.0, 2 * min(one_sided(a, n, b, m), one_sided(b, m, a, n))))


DENSE = [(190, 200, 180, 200), (30, 50, 90, 120), (298, 300, 290, 300), (240, 500, 275, 500), (499, 500, 492, 500)]
show("boschloo on a dense grid: before of, after of, p", [(*r, boschloo_dense(*r)) for r in DENSE])

MCNEMAR = [(5, 1), (0, 4), (9, 1), (12, 12), (30, 11), (250, 190)]
show("mcnemar_exact: b, c, p (statsmodels, scipy.stats.binomtest)",
     [(b, c, float(mcnemar([[0, b], [c, 0]], exact=True).pvalue), float(stats.binomtest(b, b + c).pvalue)) for b, c in MCNEMAR])


def cmh(cells):
    tables = [np.array([[b, m - b], [a, n - a]], float) for a, n, b, m in cells]
    found = StratifiedTable(tables).test_null_odds(correction=False)
    return float(found.statistic), float(found.pvalue)


def cmh_exact(cells):
    total = {0: Fraction(1)}
    mean, observed = Fraction(0), 0
    for a, n, b, m in cells:
        s = a + b
        observed, mean = observed + b, mean + Fraction(s * m, n + m)
        new = {}
        for k in range(max(0, s - n), min(s, m) + 1):
            p = Fraction(math.comb(m, k) * math.comb(n, s - k), math.comb(n + m, s))
            for value, weight in total.items():
                new[value + k] = new.get(value + k, 0) + weight * p
        total = new
    return float(sum(w for v, w in total.items() if abs(v - mean) >= abs(observed - mean)))


CMH = [[(3, 10, 8, 10), (5, 10, 9, 10)], [(3, 10, 8, 10), (10, 10, 10, 10), (5, 9, 9, 10), (2, 10, 2, 8)],
       [((i * 5) % 11, 10, min(10, (i * 5) % 11 + i % 2), 10) for i in range(40)]]
show("cmh: z squared, p, exact p", [(*cmh(cells), cmh_exact(cells)) for cells in CMH])

DIFFERENCES = [0.4, 0.0, 0.1, 0.2, -0.1, 0.5, 0.0, 0.3, 0.1]
FAMILIES = [0, 0, 1, 1, 2, 2, 2, 3, 4]


def clustered():
    model = OLS(DIFFERENCES, np.ones(len(DIFFERENCES)))
    plain = model.fit(use_t=True)
    # The finite-cluster factor alone: statsmodels' correction also multiplies by (n − 1)/(n − k) = 1 here.
    by = model.fit(cov_type="cluster", cov_kwds={"groups": FAMILIES, "df_correction": True}, use_t=True)
    return [("plain", plain.bse[0], *plain.conf_int()[0]), ("clustered", by.bse[0], *by.conf_int()[0])]


show("generalise: kind, standard error, low, high", clustered())

P = [0.01, 0.04, 0.03, 0.2, 0.0005]
show("holm", [tuple(multipletests(P, method="holm")[1])])
show("benjamini_hochberg", [tuple(multipletests(P, method="fdr_bh")[1])])

TALLIES = [(10, 10), (7, 10), (3, 10), (5, 6), (0, 10)]
for k in (1, 3, 5):
    hat = sum(Fraction(math.comb(y, k), math.comb(n, k)) for y, n in TALLIES) / len(TALLIES)
    at = sum(1 - Fraction(math.comb(n - y, k), math.comb(n, k)) for y, n in TALLIES) / len(TALLIES)
    show(f"pass^{k}, pass@{k}", [(float(hat), float(at))])


def beta_binomial(tallies):
    y, n = np.array(tallies, float).T
    p, w = y / n, n.copy()
    mean = (w * p).sum() / w.sum()
    chance = ((w / n) * (1 - w / w.sum())).sum()
    gamma = ((w * (p - mean) ** 2).sum() / (mean * (1 - mean)) - chance) / ((w * (1 - w / w.sum())).sum() - chance)
    return mean, 1 / gamma - 1


def beta_binomial_likelihood(tallies):
    y, n = np.array(tallies).T
    minus = lambda x: -stats.betabinom.logpmf(y, n, np.exp(x[0]), np.exp(x[1])).sum()
    a, b = np.exp(optimize.minimize(minus, [0, 0], method="Nelder-Mead", options={"xatol": 1e-9, "fatol": 1e-12}).x)
    return a / (a + b), a + b


SPREAD = [(10, 10), (9, 10), (10, 10), (4, 10), (7, 10), (1, 10), (8, 10), (10, 10), (15, 20), (2, 5), (6, 10), (3, 10)]
show("beta_binomial: mean, precision by moments; by maximum likelihood",
     [(*beta_binomial(SPREAD), *beta_binomial_likelihood(SPREAD))])


def tango(b, c, n, z):
    """The score interval from its definition: the likelihood maximised numerically under each difference."""
    def score(delta):
        low, high = max(0.0, -delta), (1 - delta) / 2
        # log-likelihood in q = P(only before), with P(only after) = q + delta
        def minus(q):
            rest = 1 - 2 * q - delta
            terms = [(b, q), (c, q + delta), (n - b - c, rest)]
            return -sum(k * math.log(max(p, 1e-300)) for k, p in terms if k)
        q = optimize.minimize_scalar(minus, bounds=(low, high), method="bounded", options={"xatol": 1e-13}).x
        return (c - b - n * delta) / math.sqrt(n * (2 * q + delta - delta * delta))
    observed = (c - b) / n
    low = optimize.brentq(lambda d: score(d) - z, -1 + 1e-9, observed - 1e-9)
    high = optimize.brentq(lambda d: score(d) + z, observed + 1e-9, 1 - 1e-9)
    return low, high


TWO_SIDED, ONE_SIDED = stats.norm.ppf(0.975), stats.norm.ppf(0.95)
TANGO = [(2, 2, 100), (0, 0, 30), (5, 1, 40), (1, 9, 60), (0, 7, 20), (12, 3, 15)]
show("tango: b, c, n, low, high", [(*r, *tango(*r, TWO_SIDED)) for r in TANGO])
show("tango_lower: b, c, n, low", [(*r, tango(*r, ONE_SIDED)[0]) for r in TANGO + [(0, 0, 60), (0, 0, 100)]])


def sign_e_value(w, l):
    return 2 * integrate.quad(lambda q: (2 * q) ** w * (2 * (1 - q)) ** l, 0.5, 1, epsabs=0, epsrel=1e-12)[0]


show("sign_e_value: wins, losses, e", [(w, l, sign_e_value(w, l)) for w, l in [(9, 1), (0, 0), (1, 0), (5, 5), (14, 6), (2, 10), (60, 30)]])

# Blocks of one case: passed and failed before, passed and failed after.
BLOCKS = [(1, 0, 1, 0), (0, 1, 1, 0), (0, 1, 1, 0), (1, 1, 2, 0), (0, 1, 0, 1), (0, 2, 3, 0), (1, 0, 0, 1), (0, 3, 2, 1)]


def safe_two_by_two():
    a = [0, 0]
    b = [0, 0]
    e = 1.0
    for ya, fa, yb, fb in BLOCKS:
        ta, tb = (a[0] + 0.18) / (sum(a) + 0.36), (b[0] + 0.18) / (sum(b) + 0.36)
        n, m = ya + fa, yb + fb
        t0 = (n * ta + m * tb) / (n + m)
        e *= (stats.binom.pmf(ya, n, ta) * stats.binom.pmf(yb, m, tb)) / (stats.binom.pmf(ya, n, t0) * stats.binom.pmf(yb, m, t0))
        a, b = [a[0] + ya, a[1] + fa], [b[0] + yb, b[1] + fb]
        yield e


def safe_stratified():
    chances = stats.beta.ppf((np.arange(32) + 0.5) / 32, 2, 2)
    won = np.ones(32)
    for ya, fa, yb, fb in BLOCKS:
        n, m, s = ya + fa, yb + fb, ya + yb
        for i, chance in enumerate(chances):
            ratio = stats.nchypergeom_fisher.pmf(yb, n + m, m, s, chance / (1 - chance)) / stats.hypergeom.pmf(yb, n + m, m, s)
            won[i] *= ratio
        yield won.mean()


show("SafeTwoByTwo after each block", [tuple(safe_two_by_two())])
show("SafeStratified after each block", [tuple(safe_stratified())])


def multinomial(counts, probabilities):
    n, k = sum(counts), len(counts)
    def chance(xs):
        value = Fraction(math.factorial(n))
        for x, p in zip(xs, probabilities):
            value = value * p**x / math.factorial(x)
        return value
    observed = chance(counts)
    heads = itertools.product(range(n + 1), repeat=k - 1)
    outcomes = (xs + (n - sum(xs),) for xs in heads if sum(xs) <= n)
    return float(sum(p for p in map(chance, outcomes) if p <= observed))


THIRD = [Fraction(1, 3)] * 3
VOTES = [((9, 2, 1), THIRD), ((12, 5, 3), THIRD), ((17, 8, 5), THIRD), ((4, 4, 4), THIRD),
         ((3, 1, 6), [Fraction(1, 2), Fraction(1, 4), Fraction(1, 4)])]
show("multinomial_exact: p", [(multinomial(c, p),) for c, p in VOTES])
show("votes: leader, cast, p of the leader times three",
     [(k, n, 3 * stats.binom.sf(k - 1, n, 1 / 3)) for k, n in [(9, 12), (8, 12), (12, 20), (11, 20), (17, 30), (16, 30)]])

NIGHTS = [(560, 600), (548, 600), (571, 600), (555, 590), (550, 600), (566, 600), (480, 600), (559, 600)]


def laney():
    y, n = np.array(NIGHTS, float).T
    centre = y.sum() / n.sum()
    sigma = np.sqrt(centre * (1 - centre) / n)
    z = (y / n - centre) / sigma
    sigma_z = np.abs(np.diff(z)).mean() / (2 / math.sqrt(math.pi))
    return centre, sigma_z, centre - 3 * sigma[0] * sigma_z, centre + 3 * sigma[0] * sigma_z


show("laney: centre, sigma_z, limits of the first night", [laney()])


def flips(sums):
    observed = abs(sum(sums))
    all_flips = [abs(sum(s * x for s, x in zip(signs, sums))) for signs in itertools.product((1, -1), repeat=len(sums))]
    return sum(x >= observed - 1e-9 for x in all_flips) / len(all_flips)


SUMS = [[2, 1, 3, -1, 2, 1, 1], [0.5, -0.25, 1.5, 0.75, 0.3, 1.1], [1] * 12 + [-1] * 3]
show("permutation_clustered: p", [(flips(s),) for s in SUMS])


def gate(need, of, rate):
    passes = chance = 0.0
    for n in range(1, of + 1):
        hold = math.comb(n - 1, need - 1) * rate**need * (1 - rate) ** (n - need) if n >= need else 0.0
        fails = of - need + 1
        fall = math.comb(n - 1, fails - 1) * (1 - rate) ** fails * rate ** (n - fails) if n >= fails else 0.0
        passes, chance = passes + n * (hold + fall), chance + hold
    return chance, passes


show("Gate 8 of 10: rate, chance to hold, passes expected", [(r, *gate(8, 10, r)) for r in (0.2, 0.5, 0.8, 0.95)])

BEFORE = [[310.0, 295.5, 330.25, 301.0], [150.0, 148.0, 171.5], [802.0, 790.0, 815.5, 777.0, 840.0], [95.0]]
AFTER = [[335.0, 320.0, 341.5, 329.0], [161.0, 158.5, 180.0], [850.0, 811.0, 870.0, 799.5, 866.0], [99.0]]


def balanced_median(cases):
    pairs = sorted((v, 1 / len(c)) for c in cases for v in c)
    values, weights = np.array(pairs).T
    cumulative = weights.cumsum() / weights.sum()
    lower, upper = values[np.searchsorted(cumulative, 0.5 - 1e-9)], values[np.searchsorted(cumulative, 0.5 + 1e-9)]
    return (lower + upper) / 2


show("median_difference, mean_difference",
     [(balanced_median(AFTER) - balanced_median(BEFORE), np.mean([np.mean(c) for c in AFTER]) - np.mean([np.mean(c) for c in BEFORE]))])
