//! A scripted language model on the loopback interface.

use std::io::{BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::{answer, http};

/// Delay of a slow model. Source: own choice, above the timeout that rows set for it.
const SLOW: Duration = Duration::from_secs(6);

/// The behavior of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// As requested, with shown content only.
    Good,
    /// Words in another form than requested.
    Malformed,
    /// The connection ends in the middle of the answer.
    Half,
    /// After a delay.
    Slow,
    /// With this status.
    Status(u16),
    /// In the right form, with invented content.
    Lying,
}

impl Mode {
    /// Reads the name of a mode.
    pub(super) fn of(name: &str) -> Result<Self> {
        Ok(match name {
            "good" => Self::Good,
            "malformed" => Self::Malformed,
            "half" => Self::Half,
            "slow" => Self::Slow,
            "429" => Self::Status(429),
            "500" => Self::Status(500),
            "lying" => Self::Lying,
            other => bail!("a model is good, malformed, half, slow, 429, 500 or lying, not {other}"),
        })
    }
}

/// What the answering thread and the walk share.
#[derive(Debug)]
struct SharedState {
    mode: Mode,
    /// What is said where these words are in a question.
    answers: Vec<(String, String)>,
    /// Every question: instructions and material.
    questions: Vec<String>,
    is_over: bool,
}

/// The server; it ends when it is dropped.
#[derive(Debug)]
pub(super) struct Model {
    address: SocketAddr,
    shared: Arc<Mutex<SharedState>>,
    thread: Option<JoinHandle<()>>,
}

impl Model {
    /// Starts the server.
    pub(super) fn start(mode: Mode, answers: Vec<(String, String)>) -> Result<Self> {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let address = listener.local_addr()?;
        let shared =
            Arc::new(Mutex::new(SharedState { mode, answers, questions: Vec::new(), is_over: false }));
        let own = Arc::clone(&shared);
        let thread =
            std::thread::Builder::new().name("model".to_owned()).spawn(move || serve(&listener, &own))?;
        Ok(Self { address, shared, thread: Some(thread) })
    }

    /// Returns `http://` and the listening address.
    pub(super) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Changes its behavior from the next question on.
    pub(super) fn set(&self, mode: Mode) {
        locked(&self.shared).mode = mode;
    }

    /// Returns the questions so far.
    pub(super) fn questions(&self) -> Vec<String> {
        locked(&self.shared).questions.clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        locked(&self.shared).is_over = true;
        // The thread waits for a connection; where none can be made it has ended.
        drop(TcpStream::connect(self.address));
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn locked(shared: &Mutex<SharedState>) -> MutexGuard<'_, SharedState> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn serve(listener: &TcpListener, shared: &Arc<Mutex<SharedState>>) {
    std::thread::scope(|scope| {
        while let Ok((stream, _)) = listener.accept() {
            if locked(shared).is_over {
                return;
            }
            // What a broken connection had to say is of no use.
            scope.spawn(|| drop(reply(stream, shared)));
        }
    });
}

fn reply(mut stream: TcpStream, shared: &Mutex<SharedState>) -> Result<()> {
    let (_, body) = http::read(&mut BufReader::new(stream.try_clone()?))?;
    let request: Value = serde_json::from_str(&body)?;
    let words = |place: &str| request.pointer(place).and_then(Value::as_str).unwrap_or_default();
    let question = format!("{}\n{}", words("/messages/0/content"), words("/messages/1/content"));
    let (mode, said) = {
        let mut shared = locked(shared);
        shared.questions.push(question.clone());
        let told = shared.answers.iter().find(|(when, _)| question.contains(when.as_str()));
        (shared.mode, told.map(|(_, say)| say.clone()))
    };
    let good = || said.clone().unwrap_or_else(|| answer::good(&request));
    let (status, text) = match mode {
        Mode::Good | Mode::Half => (200, good()),
        Mode::Slow => {
            pause();
            (200, good())
        }
        Mode::Malformed => (200, "{\"claims\": [{\"message\": one".to_owned()),
        Mode::Lying => (200, answer::lie(&request)),
        Mode::Status(status) => (status, String::new()),
    };
    let choice =
        json!({"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"});
    let body =
        json!({"choices": [choice], "usage": {"prompt_tokens": 30, "completion_tokens": 5}}).to_string();
    let head = format!("HTTP/1.1 {status} x\r\nContent-Type: application/json\r\nConnection: close\r\n");
    write!(stream, "{head}Content-Length: {}\r\n\r\n", body.len())?;
    let sent = if mode == Mode::Half { body.len() / 2 } else { body.len() };
    stream.write_all(body.as_bytes().get(..sent).unwrap_or_default())?;
    Ok(())
}

#[expect(clippy::disallowed_methods, reason = "a slow model is slow")]
fn pause() {
    std::thread::sleep(SLOW);
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    fn ask(model: &Model, material: &str) -> (u64, String) {
        let address = model.url().replace("http://", "");
        let body =
            json!({"messages": [{"content": "Say what is worth it."}, {"content": material}]}).to_string();
        http::ask(&address, "POST /v1/chat/completions", &BTreeMap::new(), &body).unwrap()
    }

    #[test]
    fn it_answers_as_its_mode_says() {
        let answers = vec![("boat".to_owned(), "The boat is blue.".to_owned())];
        let model = Model::start(Mode::Good, answers).unwrap();
        assert!(ask(&model, "Which boat?").1.contains("The boat is blue."));
        model.set(Mode::of("500").unwrap());
        assert_eq!(ask(&model, "Which boat?").0, 500);
        model.set(Mode::Lying);
        assert!(!ask(&model, "Which boat?").1.contains("blue"));
        model.set(Mode::Half);
        assert!(serde_json::from_str::<Value>(&ask(&model, "Which boat?").1).is_err());
        assert_eq!(model.questions().len(), 4);
        assert!(Mode::of("honest").is_err());
    }
}
