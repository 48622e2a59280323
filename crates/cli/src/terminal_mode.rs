//! Single keys from a terminal, and the terminal given back as it was.

#[cfg(unix)]
pub(crate) use unix::SingleKeys;

#[cfg(not(unix))]
pub(crate) use elsewhere::SingleKeys;

#[cfg(unix)]
mod unix {
    use std::io::{self, IsTerminal as _};

    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    /// A terminal that gives single keys as they are pressed, unseen. It is as before when this is dropped, also in a panic.
    /// Ctrl-C stays what it is.
    #[derive(Debug)]
    pub(crate) struct SingleKeys {
        before: Termios,
    }

    impl SingleKeys {
        /// Changes the terminal of standard input, if it is one that we may change.
        pub(crate) fn begin() -> Option<Self> {
            let stdin = io::stdin();
            if !stdin.is_terminal() {
                return None;
            }
            let before = tcgetattr(&stdin).ok()?;
            let mut single = before.clone();
            single.local_modes.remove(LocalModes::ICANON | LocalModes::ECHO);
            single.special_codes[SpecialCodeIndex::VMIN] = 1;
            single.special_codes[SpecialCodeIndex::VTIME] = 0;
            tcsetattr(&stdin, OptionalActions::Now, &single).ok()?;
            Some(Self { before })
        }
    }

    impl Drop for SingleKeys {
        fn drop(&mut self) {
            // The terminal may be gone, which does no harm.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &self.before);
        }
    }
}

#[cfg(not(unix))]
mod elsewhere {
    /// A terminal that gives lines only.
    #[derive(Debug)]
    pub(crate) struct SingleKeys;

    impl SingleKeys {
        pub(crate) fn begin() -> Option<Self> {
            None
        }
    }
}
