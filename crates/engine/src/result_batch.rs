//! Results of a lane on their way to the loop of the run.
//!
//! Cases that send their calls ahead end every few microseconds, and waking the loop on another thread for each costs more
//! than its work. So their results are sent together, after a moment at the latest.

use std::pin::Pin;
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::time::{Instant, Sleep, sleep_until};

use crate::record::CaseRun;

/// Time for which a result may be held.
const MOMENT: Duration = Duration::from_millis(5);
/// Number of results that are held at most.
const MOST: usize = 64;

/// Results that are sent together; they are large, and boxed since their cases ended.
pub(crate) type Results = Vec<Box<CaseRun>>;

/// The results of a lane.
#[derive(Debug)]
pub(crate) struct ResultBatch {
    sender: UnboundedSender<Results>,
    held: Results,
    /// Ends when the held results are due.
    due: Option<Pin<Box<Sleep>>>,
}

impl ResultBatch {
    pub(crate) fn new(sender: UnboundedSender<Results>) -> Self {
        Self { sender, held: Vec::new(), due: None }
    }

    /// Takes a result; where the next case has not begun, everything is sent.
    pub(crate) fn add(&mut self, run: Box<CaseRun>, is_next_begun: bool) {
        self.held.push(run);
        if !is_next_begun || self.held.len() >= MOST {
            self.send();
        } else if self.held.len() == 1 {
            let end = Instant::now() + MOMENT;
            match &mut self.due {
                Some(due) => due.as_mut().reset(end),
                None => self.due = Some(Box::pin(sleep_until(end))),
            }
        }
    }

    /// Waits for a case; the results of those before it do not wait as long.
    pub(crate) async fn during<T>(&mut self, mut case: Pin<&mut impl Future<Output = T>>) -> T {
        if !self.held.is_empty()
            && let Some(due) = &mut self.due
        {
            tokio::select! {
                biased;
                ended = case.as_mut() => return ended,
                () = due.as_mut() => self.send(),
            }
        }
        case.await
    }

    fn send(&mut self) {
        // The receiver is gone if the run was abandoned.
        let _ = self.sender.send(std::mem::take(&mut self.held));
    }
}

#[cfg(test)]
mod tests {
    use std::pin::pin;

    use mcprove_suite::load::{LoadOptions, load};
    use tokio::sync::mpsc;

    use super::*;
    use crate::{PlanOptions, plan};

    fn results(count: usize) -> Results {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("suite.yaml");
        std::fs::write(&path, "servers: {s: {command: server}}\ntools:\n  - {name: a, tool: t}\n").expect("written");
        let options =
            LoadOptions { environment: &|_| None, known_variables: &[], fixture: None, server: None, ci: false };
        let plan = plan(&load(&[path], &options).cases, &PlanOptions::default());
        (0..count).map(|_| CaseRun::skipped(&plan.cases[0], "not needed")).collect()
    }

    #[tokio::test(start_paused = true)]
    async fn results_are_held_while_the_next_case_runs_but_not_for_long() {
        let (sender, mut sent) = mpsc::unbounded_channel();
        let mut batch = ResultBatch::new(sender);
        for run in results(2) {
            batch.during(pin!(std::future::ready(()))).await;
            batch.add(run, true);
        }
        assert!(sent.try_recv().is_err(), "both are held");
        let waited = batch.during(pin!(async { sent.recv().await.map(|runs| runs.len()) })).await;
        assert_eq!(waited, Some(2), "a case that takes long does not keep them");
        batch.add(results(1).remove(0), true);
        batch.add(results(1).remove(0), false);
        assert_eq!(sent.try_recv().map(|runs| runs.len()), Ok(2), "nothing follows");
        for run in results(MOST) {
            batch.add(run, true);
        }
        assert_eq!(sent.try_recv().map(|runs| runs.len()), Ok(MOST));
    }
}
