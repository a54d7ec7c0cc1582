//! A clock that waits.

use std::collections::BTreeSet;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::parts::{Components, Piece};
use super::work::{Done, Job, Work};

/// What a thread sends: when, and the answer or what failed.
type Message = (u64, Result<Done, String>);

/// One thread for each engine; answers come when they come.
pub struct RealWork {
    begin: Instant,
    components: Components,
    lanes: Option<[Sender<Job>; 3]>,
    threads: Vec<JoinHandle<()>>,
    answers: Receiver<Message>,
    own: Sender<Message>,
    cancelled: Arc<Mutex<BTreeSet<u32>>>,
    /// Transcriptions that nobody wants any more.
    abandoned: Arc<Mutex<BTreeSet<u32>>>,
    faults: Vec<String>,
}

impl RealWork {
    /// Starts the threads; time 0 is now.
    pub fn new(components: Components) -> Self {
        let begin = Instant::now();
        let (own, answers) = channel();
        let cancelled = Arc::new(Mutex::new(BTreeSet::new()));
        let abandoned = Arc::new(Mutex::new(BTreeSet::new()));
        let mut threads = Vec::new();
        let lanes = [(); 3].map(|()| {
            let (sender, jobs) = channel::<Job>();
            let lane = Lane {
                begin,
                components: components.clone(),
                out: own.clone(),
                cancelled: cancelled.clone(),
                abandoned: abandoned.clone(),
            };
            threads.push(std::thread::spawn(move || lane.work(&jobs)));
            sender
        });
        Self { begin, components, lanes: Some(lanes), threads, answers, own, cancelled, abandoned, faults: Vec::new() }
    }

    fn now_us(&self) -> u64 {
        self.begin.elapsed().as_micros() as u64
    }
}

impl Work for RealWork {
    fn begin(&mut self, _at_us: u64, job: Job) {
        let lane = match &job {
            Job::Transcribe { .. } => 0,
            Job::Speak { .. } => 1,
            Job::Respond { .. } => 2,
            Job::Route { job, text } => {
                let route = self.components.router.route(text).value;
                let _ = self.own.send((self.now_us(), Ok(Done::Routed { job: *job, route })));
                return;
            }
        };
        if self.lanes.as_ref().is_some_and(|lanes| lanes[lane].send(job).is_err()) {
            self.faults.push("an engine's thread has ended".to_owned());
        }
    }

    fn cancel(&mut self, reply: u32) {
        self.cancelled.lock().unwrap_or_else(PoisonError::into_inner).insert(reply);
    }

    fn abandon(&mut self, _at_us: u64, job: u32) {
        self.abandoned.lock().unwrap_or_else(PoisonError::into_inner).insert(job);
    }

    fn next(&mut self, until_us: u64) -> Option<(u64, Done)> {
        loop {
            let wait = Duration::from_micros(until_us.saturating_sub(self.now_us()));
            match self.answers.recv_timeout(wait) {
                Ok((at_us, Ok(done))) => return Some((at_us.min(until_us), done)),
                Ok((_, Err(fault))) => self.faults.push(fault),
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => return None,
            }
        }
    }

    fn faults(&mut self) -> Vec<String> {
        std::mem::take(&mut self.faults)
    }
}

impl Drop for RealWork {
    fn drop(&mut self) {
        // Without senders the threads end after what they are doing.
        self.lanes = None;
        for thread in self.threads.drain(..) {
            let _ = thread.join();
        }
    }
}

/// What one thread knows.
struct Lane {
    begin: Instant,
    components: Components,
    out: Sender<Message>,
    cancelled: Arc<Mutex<BTreeSet<u32>>>,
    abandoned: Arc<Mutex<BTreeSet<u32>>>,
}

impl Lane {
    fn work(&self, jobs: &Receiver<Job>) {
        while let Ok(job) = jobs.recv() {
            match job {
                Job::Transcribe { job, .. } if Self::is_in(&self.abandoned, job) => {}
                Job::Transcribe { job, audio } => {
                    let text = self.kept(self.components.ears.transcribe(&audio).map(|timed| timed.value));
                    self.send(Done::Transcript { job, text: text.unwrap_or_default() });
                }
                Job::Speak { reply, .. } if self.is_cancelled(reply) => {}
                Job::Speak { reply, chunk, text } => {
                    let audio = self.kept(self.components.mouth.speak(&text).map(|timed| timed.value));
                    self.send(Done::Spoken { reply, chunk, audio: audio.unwrap_or_default() });
                }
                Job::Respond { reply, text } => self.respond(reply, &text),
                Job::Route { .. } => {}
            }
        }
    }

    fn respond(&self, reply: u32, text: &str) {
        let begin = Instant::now();
        let result = self.components.responder.respond(text, &mut |Piece { text, after_us }| {
            if let Some(after_us) = after_us {
                std::thread::sleep(Duration::from_micros(after_us).saturating_sub(begin.elapsed()));
            }
            self.send(Done::Piece { reply, text: text.to_owned() });
            !self.is_cancelled(reply)
        });
        let manner = self.kept(result).unwrap_or_default();
        self.send(Done::ReplyEnded { reply, manner });
    }

    fn is_cancelled(&self, reply: u32) -> bool {
        Self::is_in(&self.cancelled, reply)
    }

    fn is_in(set: &Mutex<BTreeSet<u32>>, id: u32) -> bool {
        set.lock().unwrap_or_else(PoisonError::into_inner).contains(&id)
    }

    fn kept<T>(&self, result: Result<T, String>) -> Option<T> {
        result.map_err(|fault| self.out.send((self.now_us(), Err(fault)))).ok()
    }

    fn send(&self, done: Done) {
        let _ = self.out.send((self.now_us(), Ok(done)));
    }

    fn now_us(&self) -> u64 {
        self.begin.elapsed().as_micros() as u64
    }
}
