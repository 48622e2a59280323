//! Calibration: how well the confidence of a judge agrees with what is true.

use mcprove_model::{Evaluated, Offline};
use serde_json::{Value, json};

/// Labels of a judge, and what is known of its reliability.
#[derive(Clone, Debug, Default)]
pub struct Calibration {
    /// The file of labels, relative to the folder of the suite.
    pub labels: String,
    /// The judge's answers on a set with known truth.
    pub reliability: Option<Reliability>,
    /// The share that the judge passed on the full set.
    pub observed_positive_rate: Option<f64>,
    /// True if the usual bounds are judged, because nothing else is expected.
    pub has_default_gate: bool,
}

/// A confusion matrix.
#[derive(Clone, Copy, Debug, Default)]
pub struct Reliability {
    /// True, and passed.
    pub tp: f64,
    /// True, and failed.
    pub fn_: f64,
    /// False, and failed.
    pub tn: f64,
    /// False, and passed.
    pub fp: f64,
}

/// The bounds that are usual: the calibration error and the Brier score.
const MOST_ECE: f64 = 0.10;
const MOST_BRIER: f64 = 0.25;

/// Into how many ranges confidences are sorted.
const BINS: usize = 10;

/// The quantile of a 95 % interval.
const Z: f64 = 1.96;

impl Offline for Calibration {
    fn files(&self) -> Vec<&str> {
        vec![&self.labels]
    }

    fn evaluate(&self, texts: &[String]) -> Result<Evaluated, String> {
        let labels = read_labels(texts.first().map_or("", String::as_str))?;
        let (ece, brier) = (ece(&labels), brier(&labels));
        let mut envelope = json!({"ece": ece, "brier": brier, "labels": labels.len()});
        let mut problems = Vec::new();
        if self.has_default_gate {
            for (name, value, most) in [("ece", ece, MOST_ECE), ("brier", brier, MOST_BRIER)] {
                if value > most {
                    problems.push(("calibration", format!("`{name}` is {value:.3}, more than {most}")));
                }
            }
        }
        if let (Some(reliability), Some(observed)) = (self.reliability, self.observed_positive_rate) {
            let corrected = reliability.corrected(observed, labels.len())?;
            envelope["corrected_rate"] = json!(corrected.rate);
            envelope["corrected_rate_low"] = json!((corrected.rate - corrected.margin).max(0.0));
            envelope["corrected_rate_high"] = json!((corrected.rate + corrected.margin).min(1.0));
            if self.has_default_gate && corrected.rate > observed {
                let text = format!("the corrected rate {:.3} is above the observed {observed:.3}", corrected.rate);
                problems.push(("calibration", text));
            }
        }
        Ok(Evaluated { envelope, problems })
    }
}

struct Corrected {
    rate: f64,
    margin: f64,
}

impl Reliability {
    /// The true rate behind an observed one (Rogan and Gladen), with half of its 95 % interval.
    fn corrected(&self, observed: f64, count: usize) -> Result<Corrected, String> {
        let positives = self.tp + self.fn_;
        let negatives = self.tn + self.fp;
        if positives == 0.0 || negatives == 0.0 {
            return Err("`reliability` needs cases that are true and cases that are false".to_owned());
        }
        let (sensitivity, specificity) = (self.tp / positives, self.tn / negatives);
        let informed = sensitivity + specificity - 1.0;
        if informed <= 0.0 {
            return Err("by its `reliability`, the judge does not beat chance".to_owned());
        }
        let rate = ((observed + specificity - 1.0) / informed).clamp(0.0, 1.0);
        #[expect(clippy::cast_precision_loss, reason = "labels are few")]
        let count = count.max(1) as f64;
        let margin = Z * (observed * (1.0 - observed) / count).sqrt() / informed;
        Ok(Corrected { rate, margin })
    }
}

struct Label {
    confidence: f64,
    correct: bool,
}

/// Reads lines of `{confidence, correct}`, or a JSON list of them.
fn read_labels(text: &str) -> Result<Vec<Label>, String> {
    let values: Vec<Value> = if text.trim_start().starts_with('[') {
        serde_json::from_str(text).map_err(|error| format!("the labels are not JSON: {error}"))?
    } else {
        let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
        let read = |(at, line): (usize, &str)| {
            serde_json::from_str(line).map_err(|error| format!("line {} of the labels is not JSON: {error}", at + 1))
        };
        lines.map(read).collect::<Result<_, _>>()?
    };
    if values.is_empty() {
        return Err("the file has no labels".to_owned());
    }
    let label = |(at, value): (usize, &Value)| {
        let confidence = value.get("confidence").and_then(Value::as_f64).filter(|share| (0.0..=1.0).contains(share));
        match (confidence, value.get("correct").and_then(Value::as_bool)) {
            (Some(confidence), Some(correct)) => Ok(Label { confidence, correct }),
            _ => Err(format!("label {} needs a `confidence` from 0 to 1 and `correct: true` or `false`", at + 1)),
        }
    };
    values.iter().enumerate().map(label).collect()
}

#[expect(clippy::cast_precision_loss, reason = "labels are few")]
fn brier(labels: &[Label]) -> f64 {
    let square = |label: &Label| (label.confidence - f64::from(u8::from(label.correct))).powi(2);
    labels.iter().map(square).sum::<f64>() / labels.len() as f64
}

/// The expected calibration error over ranges of equal width.
#[expect(clippy::cast_precision_loss, reason = "labels are few")]
fn ece(labels: &[Label]) -> f64 {
    let mut error = 0.0;
    for bin in 0..BINS {
        let (low, high) = (bin as f64 / BINS as f64, (bin + 1) as f64 / BINS as f64);
        let is_last = bin + 1 == BINS;
        let inside: Vec<&Label> =
            labels.iter().filter(|label| label.confidence >= low && (label.confidence < high || is_last)).collect();
        if inside.is_empty() {
            continue;
        }
        let count = inside.len() as f64;
        let confidence = inside.iter().map(|label| label.confidence).sum::<f64>() / count;
        let accuracy = inside.iter().filter(|label| label.correct).count() as f64 / count;
        error += (confidence - accuracy).abs() * count / labels.len() as f64;
    }
    error
}

#[cfg(test)]
mod tests {
    use super::*;

    fn evaluated(calibration: &Calibration, text: &str) -> Result<Evaluated, String> {
        calibration.evaluate(&[text.to_owned()])
    }

    #[test]
    fn a_judge_that_knows_itself_is_calibrated() {
        let gate = Calibration { has_default_gate: true, ..Calibration::default() };
        let sure = "{\"confidence\": 1.0, \"correct\": true}\n{\"confidence\": 0.0, \"correct\": false}\n";
        let good = evaluated(&gate, sure).expect("labels");
        assert_eq!(
            (&good.envelope["ece"], &good.envelope["brier"], good.problems.len()),
            (&json!(0.0), &json!(0.0), 0)
        );
        let wrong = "[{\"confidence\": 1.0, \"correct\": false}, {\"confidence\": 1.0, \"correct\": true}]";
        let bad = evaluated(&gate, wrong).expect("labels");
        assert_eq!((&bad.envelope["ece"], &bad.envelope["brier"], bad.problems.len()), (&json!(0.5), &json!(0.5), 2));
    }

    #[test]
    fn an_observed_rate_is_corrected() {
        let reliability = Some(Reliability { tp: 9.0, fn_: 1.0, tn: 9.0, fp: 1.0 });
        let calibration = Calibration { reliability, observed_positive_rate: Some(0.5), ..Calibration::default() };
        let rate = evaluated(&calibration, "{\"confidence\": 0.5, \"correct\": true}").expect("labels").envelope;
        assert!((rate["corrected_rate"].as_f64().expect("a number") - 0.5).abs() < 1e-9, "{rate}");
    }

    #[test]
    fn what_is_no_label_is_an_error() {
        for text in ["", "x", "{\"confidence\": 2, \"correct\": true}", "[{\"confidence\": 1}]"] {
            assert!(evaluated(&Calibration::default(), text).is_err(), "{text}");
        }
    }
}
