//! Request filter over the blocks' columns.

use mnemal_core::{EventFilter, IndexBlock, Labels, Role, SessionId, Within};

use crate::lexical::LexicalIndex as _;
use crate::memory::MemoryIndex;
use crate::rows::RowSet;

/// Rows scanned together for one session. Source: own choice.
const STRETCH: usize = 64;

/// Returns the rows that pass; the filter's flags for erased and quarantined events have no effect, because no block holds
/// such events.
pub(crate) fn rows(index: &MemoryIndex, filter: &EventFilter, except: Option<&SessionId>) -> RowSet {
    let except = except.and_then(|session| Some((session, index.session_number(session.as_str())?)));
    match except {
        None if is_open(filter) => return RowSet::all(index.rows()),
        Some((_, number)) if is_open(filter) => return all_but(index, number),
        _ => {}
    }
    let except = except.map(|(session, _)| session);
    let mut blocks =
        index.blocks.iter().map(|placed| (placed, BlockFilter::new(&placed.block, filter, except)));
    let mut now = blocks.next();
    RowSet::of(index.rows(), |row| {
        while now
            .as_ref()
            .is_some_and(|(placed, _)| row as usize >= placed.first as usize + placed.block.len())
        {
            now = blocks.next();
        }
        now.as_ref().is_some_and(|(placed, narrowed)| narrowed.passes((row - placed.first) as usize))
    })
}

/// All rows except those of one session; its decisions pass.
fn all_but(index: &MemoryIndex, session: u32) -> RowSet {
    // Few rows belong to one session, and a check of many at once is almost free.
    let stretches = index.columns.sessions.chunks(STRETCH).zip((0_u32..).step_by(STRETCH));
    let of_session =
        stretches.filter(|(sessions, _)| sessions.contains(&session)).flat_map(|(sessions, first)| {
            sessions.iter().zip(first..).filter(|(of, _)| **of == session).map(|(_, row)| row)
        });
    RowSet::all_but(index.rows(), of_session.filter(|row| index.role(*row) != Some(Role::Decision)))
}

fn is_open(filter: &EventFilter) -> bool {
    let open = EventFilter {
        quarantined: filter.quarantined.clone(),
        erased: filter.erased.clone(),
        ..EventFilter::all()
    };
    *filter == open
}

/// A filter with its names resolved to one block's codes.
struct BlockFilter<'a> {
    block: &'a IndexBlock,
    filter: &'a EventFilter,
    /// Each requested name as a code of its column.
    codes: Vec<(&'a Labels, u16)>,
    /// The session whose turns do not pass.
    except: Option<u16>,
    is_void: bool,
}

impl<'a> BlockFilter<'a> {
    fn new(block: &'a IndexBlock, filter: &'a EventFilter, except: Option<&SessionId>) -> Self {
        let except = except.and_then(|session| code(&block.sessions, session.as_str()));
        let mut narrowed = Self { block, filter, codes: Vec::new(), except, is_void: false };
        narrowed.ask(&block.sessions, name(&filter.session, SessionId::as_str));
        narrowed.ask(&block.channels, name(&filter.channel, mnemal_core::ChannelId::as_str));
        narrowed.ask(&block.speakers, name(&filter.speaker, mnemal_core::Speaker::as_str));
        narrowed.ask(&block.users, name(&filter.user, mnemal_core::UserId::as_str));
        narrowed.ask(&block.agents, name(&filter.agent, mnemal_core::AgentId::as_str));
        narrowed
    }

    fn ask(&mut self, labels: &'a Labels, name: Option<&str>) {
        let Some(name) = name else { return };
        match code(labels, name) {
            Some(code) => self.codes.push((labels, code)),
            None => self.is_void = true,
        }
    }

    fn passes(&self, place: usize) -> bool {
        if self.is_void || self.codes.iter().any(|(labels, code)| labels.rows.get(place) != Some(code)) {
            return false;
        }
        let role = self.block.roles.get(place);
        let own = self.except.is_some() && self.block.sessions.rows.get(place).copied() == self.except;
        if own && role != Some(&Role::Decision) {
            return false;
        }
        let at = self.block.occurred_at.get(place);
        self.filter.roles.only().is_none_or(|roles| role.is_some_and(|role| roles.contains(role)))
            && self.filter.since.is_none_or(|since| at.is_some_and(|at| *at >= since))
            && self.filter.until.is_none_or(|until| at.is_some_and(|at| *at < until))
    }
}

/// Returns the code of a name in a block's column.
fn code(labels: &Labels, name: &str) -> Option<u16> {
    let place = labels.names.iter().position(|known| known == name)?;
    u16::try_from(place + 1).ok()
}

fn name<T>(within: &Within<T>, text: impl Fn(&T) -> &str) -> Option<&str> {
    match within {
        Within::All => None,
        Within::Only(one) => Some(text(one)),
    }
}
