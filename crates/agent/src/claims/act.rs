//! Acts: what a tool does and what an answer can claim, as sets.

/// One thing that can be done in the world, as far as a sentence and a tool can agree on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[allow(missing_docs)] // the names say it
pub enum Act {
    Create,
    Append,
    Update,
    Delete,
    Move,
    Copy,
    Compress,
    Convert,
    ReadFile,
    ListFolder,
    PlanCleanup,
    Undo,
    SearchWeb,
    ReadPage,
    OpenPage,
    OpenPath,
    LaunchApp,
    CloseApp,
    Play,
    Pause,
    Next,
    Previous,
    Volume,
    Mute,
    Remember,
    Forget,
    History,
    ProviderRecall,
    Delegate,
    Remind,
    RemindOff,
    RemindList,
    Calendar,
    CalendarOff,
    CalendarRead,
    SystemInfo,
    SendMessage,
    MailRead,
    Terminal,
    TerminalRead,
    Run,
    Download,
    Upload,
    Install,
    Print,
    Call,
    Buy,
    Book,
    Pay,
    Cancel,
    Post,
    Share,
    Register,
    Connect,
    Settings,
    Home,
    Power,
    Record,
    Screen,
    Image,
    Chart,
    Clipboard,
    Contact,
    /// An act that only its own tool's name knows.
    Other,
}

impl Act {
    /// Every act.
    pub(super) const ALL: [Self; 64] = [
        Self::Create,
        Self::Append,
        Self::Update,
        Self::Delete,
        Self::Move,
        Self::Copy,
        Self::Compress,
        Self::Convert,
        Self::ReadFile,
        Self::ListFolder,
        Self::PlanCleanup,
        Self::Undo,
        Self::SearchWeb,
        Self::ReadPage,
        Self::OpenPage,
        Self::OpenPath,
        Self::LaunchApp,
        Self::CloseApp,
        Self::Play,
        Self::Pause,
        Self::Next,
        Self::Previous,
        Self::Volume,
        Self::Mute,
        Self::Remember,
        Self::Forget,
        Self::History,
        Self::ProviderRecall,
        Self::Delegate,
        Self::Remind,
        Self::RemindOff,
        Self::RemindList,
        Self::Calendar,
        Self::CalendarOff,
        Self::CalendarRead,
        Self::SystemInfo,
        Self::SendMessage,
        Self::MailRead,
        Self::Terminal,
        Self::TerminalRead,
        Self::Run,
        Self::Download,
        Self::Upload,
        Self::Install,
        Self::Print,
        Self::Call,
        Self::Buy,
        Self::Book,
        Self::Pay,
        Self::Cancel,
        Self::Post,
        Self::Share,
        Self::Register,
        Self::Connect,
        Self::Settings,
        Self::Home,
        Self::Power,
        Self::Record,
        Self::Screen,
        Self::Image,
        Self::Chart,
        Self::Clipboard,
        Self::Contact,
        Self::Other,
    ];
}

/// A set of acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Acts(u64);

impl Acts {
    /// No act.
    pub(super) const NONE: Self = Self(0);
    /// Everything that only looks.
    pub(super) const READS: Self = Self::of(&[
        Act::ReadFile,
        Act::ListFolder,
        Act::PlanCleanup,
        Act::SearchWeb,
        Act::ReadPage,
        Act::History,
        Act::ProviderRecall,
        Act::RemindList,
        Act::CalendarRead,
        Act::SystemInfo,
        Act::MailRead,
        Act::TerminalRead,
        Act::Screen,
    ]);

    /// The set of these acts.
    pub(super) const fn of(acts: &[Act]) -> Self {
        let mut bits = 0;
        let mut index = 0;
        while index < acts.len() {
            bits |= 1 << acts[index] as u64;
            index += 1;
        }
        Self(bits)
    }

    pub(super) const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) const fn meets(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(super) const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// True when it holds nothing but acts that only look.
    pub(super) const fn only_reads(self) -> bool {
        self.0 != 0 && self.0 & !Self::READS.0 == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_act_has_its_own_bit() {
        assert!((Act::Other as u64) < 64);
        let both = Acts::of(&[Act::Create, Act::Other]);
        assert!(both.meets(Acts::of(&[Act::Other])) && !both.meets(Acts::of(&[Act::Append])));
        assert!(Acts::READS.only_reads() && !both.only_reads() && !Acts::NONE.only_reads());
    }
}
