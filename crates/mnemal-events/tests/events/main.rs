//! The log over the reference store.

#[cfg(test)]
mod append;
mod claude_code;
#[cfg(test)]
mod desk;
#[cfg(test)]
mod document;
#[cfg(test)]
mod dry_run;
#[cfg(test)]
mod echo;
#[cfg(test)]
mod export;
#[cfg(test)]
mod follow;
#[cfg(test)]
mod forget;
#[cfg(test)]
mod import;
#[cfg(test)]
mod import_damaged;
#[cfg(test)]
mod import_formats;
#[cfg(test)]
mod import_memory;
#[cfg(test)]
mod import_programs;
#[cfg(test)]
mod ingest_quota;
#[cfg(test)]
mod own_history;
#[cfg(test)]
mod recent;
#[cfg(test)]
mod secrets;
#[cfg(test)]
mod tail;
#[cfg(test)]
mod thread;
