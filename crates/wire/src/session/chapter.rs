//! A session that several cases share, one after the other: each takes away what was said in its time.

use tokio::time::Instant;

use super::{Closing, Session};

impl Session {
    /// Takes out everything since the last chapter, so that the next case begins with an empty record.
    pub fn end_chapter(&mut self) -> Closing {
        let mut oddities = std::mem::take(&mut self.oddities);
        oddities.extend(std::mem::take(&mut self.strays).finding());
        Closing {
            frames: self.log.take(),
            oddities,
            notifications: std::mem::take(&mut self.notifications),
            server_requests: std::mem::take(&mut self.server_requests),
            stderr: self.transport.stderr(),
            end: None,
        }
    }

    /// Whether the next case can rely on this session: the server is there and owes no answer.
    pub async fn is_sound(&mut self) -> bool {
        // Whatever has arrived by now is looked at; above all the news that the server is gone.
        self.listen(Instant::now()).await;
        self.closed.is_none() && self.cancelled.is_empty() && self.pending.iter().all(|p| p.stands)
    }
}
