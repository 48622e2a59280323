//! Limits that fail a load: `p95 < 200ms`, `errors < 0.1%`, `memory growth < 1MB/1000 calls`.

use std::fmt;

use mcprove_model::{LoadError, LoadRecord, duration_text, nearest, number_text, size_text};

/// A limit that fails a load.
#[derive(Clone, Debug, PartialEq)]
pub struct Gate {
    /// The measured value.
    pub quantity: Quantity,
    /// True if larger values are wrong, false if smaller ones are.
    pub is_upper: bool,
    /// True if the limit itself is allowed.
    pub allows_equal: bool,
    /// The limit, in the unit of the quantity.
    pub limit: f64,
    /// As it is written.
    pub text: String,
}

/// A measured value of a load.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A percentile of the latency, from 0 to 100, in microseconds.
    Percentile(f64),
    /// The mean latency, in microseconds.
    Mean,
    /// The longest latency, in microseconds.
    Max,
    /// The share of calls that failed or were dropped.
    Errors,
    /// The share of arrivals that were dropped.
    Dropped,
    /// The number of replies that were not as expected.
    Wrong,
    /// Calls per second that were answered well.
    Throughput,
    /// Growth of the server's memory, in bytes per call.
    MemoryGrowth,
    /// The most memory of the server, in bytes.
    Memory,
}

/// Result of a gate.
#[derive(Clone, Debug, PartialEq)]
pub enum GateResult {
    /// The value keeps the limit.
    Kept(String),
    /// The value breaks the limit.
    Broken(String),
    /// The value could not be measured, and why.
    Unknown(String),
}

const NAMES: [&str; 9] = ["p50", "p95", "p99", "mean", "max", "errors", "dropped", "wrong", "throughput"];

impl Gate {
    /// Reads a gate.
    pub fn parse(text: &str) -> Result<Self, String> {
        let at = text.find(['<', '>']).ok_or_else(|| {
            format!("invalid gate `{text}`: write for example `p95 < 200ms`, `errors < 0.1%` or `throughput > 50/s`")
        })?;
        let (name, rest) = (text[..at].trim().to_lowercase(), &text[at..]);
        let is_upper = rest.starts_with('<');
        let rest = &rest[1..];
        let (allows_equal, value) = rest.strip_prefix('=').map_or((false, rest), |rest| (true, rest));
        let quantity = quantity(&name).ok_or_else(|| match nearest(&name, NAMES.into_iter().chain(["memory growth"])) {
            Some(near) => format!("unknown quantity `{name}` in the gate `{text}`; did you mean `{near}`?"),
            None => format!(
                "unknown quantity `{name}` in the gate `{text}`; use a percentile such as `p95`, or {}, memory, memory growth",
                NAMES[3..].join(", ")
            ),
        })?;
        let limit = limit(quantity, value.trim()).ok_or_else(|| {
            format!("invalid limit `{}` in the gate `{text}`; write for example `{}`", value.trim(), quantity.example())
        })?;
        let gate = Self { quantity, is_upper, allows_equal, limit, text: text.trim().to_owned() };
        if gate.is_impossible() {
            return Err(format!("no load can keep the gate `{text}`; `<=` and `>=` allow the limit itself"));
        }
        Ok(gate)
    }

    /// True if no value keeps the limit.
    fn is_impossible(&self) -> bool {
        let (least, most) = match self.quantity {
            Quantity::MemoryGrowth => (f64::NEG_INFINITY, f64::INFINITY),
            Quantity::Errors | Quantity::Dropped => (0.0, 1.0),
            Quantity::Percentile(_)
            | Quantity::Mean
            | Quantity::Max
            | Quantity::Wrong
            | Quantity::Throughput
            | Quantity::Memory => (0.0, f64::INFINITY),
        };
        let is_beyond = if self.is_upper { self.limit <= least } else { self.limit >= most };
        is_beyond && !self.allows_equal
    }

    /// Judges a load.
    pub fn judge(&self, load: &LoadRecord) -> GateResult {
        let (value, shown) = match self.quantity.value(load) {
            Ok(measured) => measured,
            Err(why) => return GateResult::Unknown(why),
        };
        let keeps = match (self.is_upper, self.allows_equal) {
            (true, false) => value < self.limit,
            (true, true) => value <= self.limit,
            (false, false) => value > self.limit,
            (false, true) => value >= self.limit,
        };
        if keeps {
            return GateResult::Kept(shown);
        }
        // A value that is shown as the limit would look like one that keeps it.
        let exact = self.quantity.exact(value).filter(|_| self.quantity.rounded(self.limit).as_ref() == Some(&shown));
        GateResult::Broken(exact.unwrap_or(shown))
    }
}

impl fmt::Display for Gate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl Quantity {
    fn example(self) -> &'static str {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max => "200ms",
            Self::Errors | Self::Dropped => "0.1%",
            Self::Wrong => "1",
            Self::Throughput => "50/s",
            Self::MemoryGrowth => "1MB/1000 calls",
            Self::Memory => "200MB",
        }
    }

    /// A value as it is shown; `None` where it is shown with the counts it comes from.
    fn rounded(self, value: f64) -> Option<String> {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max => Some(duration_text(value)),
            Self::Throughput => Some(format!("{}/s", number_text(value))),
            Self::Memory => Some(size_text(value)),
            Self::Errors | Self::Dropped | Self::Wrong | Self::MemoryGrowth => None,
        }
    }

    /// A value with all its digits.
    fn exact(self, value: f64) -> Option<String> {
        match self {
            Self::Percentile(_) | Self::Mean | Self::Max => Some(format!("{value:.0} µs")),
            Self::Throughput => Some(format!("{value:.4}/s")),
            Self::Memory => Some(format!("{value:.0} B")),
            Self::Errors | Self::Dropped | Self::Wrong | Self::MemoryGrowth => None,
        }
    }

    /// The measured value, and how it is shown.
    fn value(self, load: &LoadRecord) -> Result<(f64, String), String> {
        let nothing = || "no call was answered".to_owned();
        let latency = |pick: &dyn Fn(&mcprove_model::LatencyHistogram) -> u64| {
            let latency = load.latency();
            if latency.is_empty() {
                return Err(nothing());
            }
            #[expect(clippy::cast_precision_loss, reason = "durations are far below 2^52 µs")]
            let value = pick(&latency) as f64;
            Ok((value, duration_text(value)))
        };
        let part = |part: u64| {
            if load.total() == 0 {
                return Err("no call was made".to_owned());
            }
            let value = mcprove_model::share(part, load.total());
            Ok((value, format!("{} % ({part} of {})", number_text(value * 100.0), load.total())))
        };
        match self {
            Self::Percentile(percent) => latency(&|latency| latency.quantile(percent / 100.0)),
            Self::Mean => latency(&mcprove_model::LatencyHistogram::mean),
            Self::Max => latency(&mcprove_model::LatencyHistogram::max),
            Self::Errors => errors(load),
            Self::Dropped => part(load.dropped),
            Self::Wrong => {
                let wrong = wrong_replies(load);
                if load.checked == 0 {
                    return Err("no reply was judged".to_owned());
                }
                #[expect(clippy::cast_precision_loss, reason = "a count of replies")]
                let value = wrong as f64;
                Ok((value, format!("{wrong} of {} judged replies", load.checked)))
            }
            Self::Throughput => Ok((load.throughput(), format!("{}/s", number_text(load.throughput())))),
            Self::MemoryGrowth => match load.growth {
                // The best estimate is compared; a limit is exceeded only by growth that cannot be anything else.
                Some(growth) => {
                    let is_proven = growth.low > 0.0 && growth.is_certain;
                    let value = if is_proven { growth.per_call } else { growth.per_call.min(0.0) };
                    Ok((value, growth.to_string()))
                }
                None => Err("the memory of the server is not known, or the run was too short".to_owned()),
            },
            Self::Memory => match load.usage.iter().map(|sample| sample.memory).max() {
                #[expect(clippy::cast_precision_loss, reason = "memory is far below 2^52 bytes")]
                Some(most) => Ok((most as f64, size_text(most as f64))),
                None => Err("the memory of the server is not known".to_owned()),
            },
        }
    }
}

fn wrong_replies(load: &LoadRecord) -> u64 {
    load.errors().get(&LoadError::WrongReply).map_or(0, |errors| errors.count)
}

/// The share of calls that failed. Only every n-th reply is judged: a wrong one stands for n.
fn errors(load: &LoadRecord) -> Result<(f64, String), String> {
    if load.total() == 0 {
        return Err("no call was made".to_owned());
    }
    let wrong = wrong_replies(load);
    let failed = load.failed() + load.dropped;
    let unseen = wrong.saturating_mul(load.plan.check_every.max(1) - 1).min(load.answered());
    let share = mcprove_model::share(failed + unseen, load.total());
    let percent = number_text(share * 100.0);
    let shown = if unseen == 0 {
        format!("{percent} % ({failed} of {})", load.total())
    } else {
        let (other, checked) = (failed - wrong, load.checked);
        format!("about {percent} % ({wrong} of {checked} judged replies, and {other} of {} calls)", load.total())
    };
    Ok((share, shown))
}

fn quantity(name: &str) -> Option<Quantity> {
    Some(match name {
        "mean" => Quantity::Mean,
        "max" => Quantity::Max,
        "errors" => Quantity::Errors,
        "dropped" => Quantity::Dropped,
        "wrong" => Quantity::Wrong,
        "throughput" => Quantity::Throughput,
        "memory growth" => Quantity::MemoryGrowth,
        "memory" => Quantity::Memory,
        _ => {
            let percent: f64 = name.strip_prefix('p')?.parse().ok()?;
            Quantity::Percentile(Some(percent).filter(|percent| (0.0..=100.0).contains(percent))?)
        }
    })
}

fn limit(quantity: Quantity, text: &str) -> Option<f64> {
    let with_unit = |units: &[(&str, f64)]| {
        let at = text.find(|c: char| !c.is_ascii_digit() && c != '.')?;
        let value: f64 = text[..at].parse().ok()?;
        let unit = text[at..].trim();
        units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| value * factor)
    };
    match quantity {
        Quantity::Percentile(_) | Quantity::Mean | Quantity::Max => {
            with_unit(&[("us", 1.0), ("µs", 1.0), ("μs", 1.0), ("ms", 1e3), ("s", 1e6), ("m", 6e7), ("min", 6e7)])
        }
        Quantity::Errors | Quantity::Dropped => with_unit(&[("%", 0.01)]).filter(|share| *share <= 1.0),
        Quantity::Wrong => text.parse::<u32>().ok().map(f64::from),
        Quantity::Throughput => {
            let (number, unit) = text.split_once('/').unwrap_or((text, "s"));
            let seconds = match unit.trim() {
                "s" => 1.0,
                "m" | "min" => 60.0,
                _ => return None,
            };
            let number: f64 = number.trim().parse().ok().filter(|value| is_measurable(*value))?;
            Some(number / seconds)
        }
        Quantity::Memory => with_unit(BYTES),
        Quantity::MemoryGrowth => {
            let (size, calls) = text.split_once('/')?;
            let calls = calls.trim().trim_end_matches('s').trim_end_matches("call").trim();
            let calls: f64 = if calls.is_empty() {
                1.0
            } else {
                calls.replace(',', "").parse().ok().filter(|value| is_measurable(*value))?
            };
            let at = size.find(|c: char| !c.is_ascii_digit() && c != '.')?;
            let value: f64 = size[..at].parse().ok()?;
            let factor = BYTES.iter().find(|(name, _)| *name == size[at..].trim()).map(|(_, factor)| factor)?;
            (calls >= 1.0).then(|| value * factor / calls)
        }
    }
}

fn is_measurable(value: f64) -> bool {
    value.is_finite() && value >= 0.0
}

const BYTES: &[(&str, f64)] = &[
    ("B", 1.0),
    ("kB", 1e3),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

#[cfg(test)]
mod tests {
    use mcprove_model::{CallStats, ErrorStats, UsageSample};

    use super::*;

    fn load() -> LoadRecord {
        let mut stats = CallStats::default();
        (1..=1000).for_each(|ms| stats.latency.record(ms * 1000));
        stats.errors.insert(LoadError::Timeout, ErrorStats { count: 10, ..ErrorStats::default() });
        let usage =
            (0..20).map(|n| UsageSample { calls: n * 100, memory: 50_000_000 + n * 100_000, ..UsageSample::default() });
        LoadRecord {
            calls: [("echo".to_owned(), stats)].into(),
            measured_us: 10_000_000,
            growth: crate::load::memory_growth(&usage.clone().collect::<Vec<_>>()),
            usage: usage.collect(),
            ..LoadRecord::default()
        }
    }

    #[test]
    fn gates_are_kept_and_broken() {
        for (gate, kept) in [
            ("p50 < 600ms", true),
            ("p50 < 400ms", false),
            ("P99.9<=2s", true),
            ("max < 500000us", false),
            ("mean < 1 s", true),
            ("errors < 1%", true),
            ("errors < 0.5%", false),
            ("dropped <= 0%", true),
            ("throughput > 99/s", true),
            ("throughput >= 101", false),
            ("throughput>99 / s", true),
            ("throughput > 5940/min", true),
            ("errors<1 %", true),
            ("p50 < 0.01m", true),
            ("memory growth<2 MB / 1000 calls", true),
            ("memory growth < 2MB/1000 calls", true),
            ("memory growth < 1kB/call", false),
            ("memory growth < 500kB/1000 calls", false),
            ("memory growth < 500kB/1,000 calls", false),
            ("memory < 60MB", true),
        ] {
            let result = Gate::parse(gate).expect(gate).judge(&load());
            assert_eq!(matches!(result, GateResult::Kept(_)), kept, "{gate}: {result:?}");
        }
    }

    #[test]
    fn a_wrong_reply_stands_for_those_that_were_not_judged() {
        let mut sampled = load();
        let errors = &mut sampled.calls.get_mut("echo").expect("there").errors;
        *errors = [(LoadError::WrongReply, ErrorStats { count: 5, ..ErrorStats::default() })].into();
        sampled.checked = 100;
        let judge = |every: u64| {
            let mut sampled = sampled.clone();
            sampled.plan.check_every = every;
            Gate::parse("errors < 1%").expect("valid").judge(&sampled)
        };
        assert_eq!(judge(1), GateResult::Kept("0.50 % (5 of 1005)".to_owned()));
        let broken = "about 4.98 % (5 of 100 judged replies, and 0 of 1005 calls)".to_owned();
        assert_eq!(judge(10), GateResult::Broken(broken));
    }

    #[test]
    fn a_broken_gate_does_not_show_the_limit_as_the_value() {
        let mut close = load();
        close.calls.values_mut().for_each(|stats| {
            stats.latency = mcprove_model::LatencyHistogram::default();
            stats.latency.record(200_063);
        });
        let result = Gate::parse("max <= 200ms").expect("valid").judge(&close);
        assert_eq!(result, GateResult::Broken("200063 µs".to_owned()));
    }

    #[test]
    fn what_was_not_measured_is_unknown() {
        let nothing = LoadRecord::default();
        for gate in ["p95 < 1s", "errors < 1%", "memory growth < 1MB/1000 calls", "memory < 1GB", "wrong < 1"] {
            let result = Gate::parse(gate).expect(gate).judge(&nothing);
            assert!(matches!(result, GateResult::Unknown(_)), "{gate}: {result:?}");
        }
    }

    #[test]
    fn mistakes_are_named() {
        for (gate, message) in [
            ("p95 200ms", "invalid gate `p95 200ms`"),
            ("p95 < 200", "invalid limit `200`"),
            ("p101 < 1s", "unknown quantity `p101`"),
            ("erors < 1%", "did you mean `errors`?"),
            ("errors < 200%", "invalid limit `200%`"),
            ("errors < 0%", "no load can keep the gate `errors < 0%`"),
            ("p95 < 0ms", "no load can keep"),
            ("errors > 100%", "no load can keep"),
            ("throughput > inf", "invalid limit `inf`"),
            ("throughput > 5/fortnight", "write for example `50/s`"),
            ("p95 < 1e3ms", "invalid limit `1e3ms`"),
            ("200ms > p95", "unknown quantity `200ms`"),
            ("memory growth < 1MB", "write for example `1MB/1000 calls`"),
        ] {
            let error = Gate::parse(gate).expect_err(gate);
            assert!(error.contains(message), "{gate}: {error}");
        }
    }
}
