//! Single keys from a terminal, and the terminal given back as it was.

#[cfg(unix)]
pub(crate) use unix::{SingleKeys, restore};

#[cfg(not(unix))]
pub(crate) use elsewhere::{SingleKeys, restore};

#[cfg(unix)]
mod unix {
    use std::io::{self, IsTerminal as _};
    use std::sync::{Mutex, PoisonError};

    use rustix::termios::{LocalModes, OptionalActions, SpecialCodeIndex, Termios, tcgetattr, tcsetattr};

    /// The mode to restore; a panic ends the program without dropping anything.
    static BEFORE: Mutex<Option<Termios>> = Mutex::new(None);

    /// A terminal that gives single keys as they are pressed, unseen, until this is dropped. Ctrl-C stays what it is.
    #[derive(Debug)]
    pub(crate) struct SingleKeys(());

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
            *BEFORE.lock().unwrap_or_else(PoisonError::into_inner) = Some(before);
            Some(Self(()))
        }
    }

    impl Drop for SingleKeys {
        fn drop(&mut self) {
            restore();
        }
    }

    /// Gives the terminal back as it was.
    pub(crate) fn restore() {
        let before = BEFORE.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(before) = before {
            // The terminal may be gone, which does no harm.
            let _ = tcsetattr(io::stdin(), OptionalActions::Now, &before);
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

    /// Nothing to give back.
    pub(crate) fn restore() {}
}
