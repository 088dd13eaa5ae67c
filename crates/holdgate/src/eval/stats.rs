//! Rates with exact intervals, and percentiles.

#![allow(
    clippy::cast_precision_loss,
    reason = "counts of cases stay far below 2^52"
)]
#![allow(
    clippy::many_single_char_names,
    reason = "the names that textbooks use"
)]

use std::time::Duration;

/// So many of so many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Rate {
    /// How many are so.
    pub hits: u64,
    /// Of how many.
    pub of: u64,
}

impl Rate {
    /// In per cent; `None` of nothing.
    pub fn percent(self) -> Option<f64> {
        (self.of > 0).then(|| 100.0 * self.hits as f64 / self.of as f64)
    }

    /// The exact 95 % interval (Clopper and Pearson), in per cent. It holds what the data cannot
    /// rule out, so nothing at all gives 0 to 100.
    pub fn interval(self) -> (f64, f64) {
        const TAIL: f64 = 0.025;
        let (hits, misses) = (self.hits as f64, self.of.saturating_sub(self.hits) as f64);
        let low = match self.hits {
            0 => 0.0,
            _ => beta_quantile(TAIL, hits, misses + 1.0),
        };
        let high = match self.of.saturating_sub(self.hits) {
            0 => 1.0,
            _ => beta_quantile(1.0 - TAIL, hits + 1.0, misses),
        };
        (100.0 * low, 100.0 * high)
    }
}

/// Where the beta distribution's lower part weighs `p`.
fn beta_quantile(p: f64, a: f64, b: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    // Each step halves the rest: after 60 there is nothing left of a double.
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if beta_below(middle, a, b) < p {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}

/// The regularised incomplete beta function.
fn beta_below(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * (-x).ln_1p()).exp();
    // The fraction converges fast on its own side of the middle only.
    if x < (a + 1.0) / (a + b + 2.0) {
        front * fraction(x, a, b) / a
    } else {
        1.0 - front * fraction(1.0 - x, b, a) / b
    }
}

/// The continued fraction behind the incomplete beta function, by Lentz's method.
fn fraction(x: f64, a: f64, b: f64) -> f64 {
    const TINY: f64 = 1e-300;
    let away_from_zero = |v: f64| if v.abs() < TINY { TINY } else { v };
    let mut c = 1.0;
    let mut d = 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0));
    let mut value = d;
    // It takes about the square root of the larger parameter: enough for a hundred million cases.
    for m in 1..10_000 {
        let m = f64::from(m);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for step in [even, odd] {
            d = 1.0 / away_from_zero(1.0 + step * d);
            c = away_from_zero(1.0 + step / c);
            change = d * c;
            value *= change;
        }
        if (change - 1.0).abs() < 1e-14 {
            break;
        }
    }
    value
}

/// The logarithm of the gamma function for `x >= 1`: Stirling's series, after moving `x` up to
/// where it is exact.
fn ln_gamma(mut x: f64) -> f64 {
    let mut below = 0.0;
    while x < 12.0 {
        below += x.ln();
        x += 1.0;
    }
    let y = 1.0 / (x * x);
    let series = (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - below
}

/// How long verdicts take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Latency {
    /// How many were timed.
    pub verdicts: usize,
    /// Half of them took at most this.
    pub p50: Duration,
    /// Nine in ten.
    pub p90: Duration,
    /// Ninety-nine in a hundred.
    pub p99: Duration,
    /// All of them.
    pub max: Duration,
}

impl Latency {
    /// The percentiles of `times`.
    pub fn of(mut times: Vec<Duration>) -> Latency {
        times.sort_unstable();
        // The smallest time that the share of all does not exceed.
        let at = |per_cent: usize| {
            let rank = (times.len() * per_cent).div_ceil(100);
            times
                .get(rank.saturating_sub(1))
                .copied()
                .unwrap_or_default()
        };
        Latency {
            verdicts: times.len(),
            p50: at(50),
            p90: at(90),
            p99: at(99),
            max: at(100),
        }
    }
}

/// In microseconds, with one place behind the point.
pub fn micros(time: Duration) -> String {
    format!("{:.1}", time.as_secs_f64() * 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn intervals_are_those_of_the_tables() {
        #[track_caller]
        fn check(hits: u64, of: u64, low: f64, high: f64) {
            let (l, h) = Rate { hits, of }.interval();
            let near = |a: f64, b: f64| (a - b).abs() < 0.005;
            assert!(near(l, low) && near(h, high), "{hits}/{of}: [{l}, {h}]");
        }
        check(0, 12, 0.0, 26.46);
        check(60, 60, 94.04, 100.0);
        check(49, 50, 89.35, 99.95);
        check(5, 10, 18.71, 81.29);
        check(1, 1, 2.5, 100.0);
        check(0, 1, 0.0, 97.5);
        check(0, 0, 0.0, 100.0);
        check(12, 10_506, 0.06, 0.20);
        check(50_000, 100_000, 49.69, 50.31);
    }

    #[test]
    fn percentiles_are_times_that_were_measured() {
        let us = Duration::from_micros;
        let latency = Latency::of((1..=200).rev().map(us).collect());
        assert_eq!(
            (latency.p50, latency.p90, latency.p99, latency.max),
            (us(100), us(180), us(198), us(200))
        );
        assert_eq!(Latency::of(vec![us(7)]).p50, us(7));
        assert_eq!(Latency::of(Vec::new()), Latency::default());
    }
}
