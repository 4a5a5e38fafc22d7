//! The HTTP API, through the real router and over a real socket.

#[cfg(test)]
mod access;
#[cfg(test)]
mod accounts;
#[cfg(test)]
mod api;
#[cfg(test)]
mod decisions;
#[cfg(test)]
mod document;
#[cfg(test)]
mod embedded;
#[cfg(test)]
mod errors;
#[cfg(test)]
mod flows;
#[cfg(test)]
mod imports;
#[cfg(test)]
mod login;
#[cfg(test)]
mod mcp;
#[cfg(test)]
mod mem0;
#[cfg(test)]
mod memory_tool;
#[cfg(test)]
mod slow;
#[cfg(test)]
mod socket;
#[cfg(test)]
mod surface;
#[cfg(test)]
mod unknown;
#[cfg(test)]
mod users;
