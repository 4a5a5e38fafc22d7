//! The protocol over an in-process pipe: the client's view of it, tool by tool.

#[cfg(test)]
mod arguments;
#[cfg(test)]
mod classic;
#[cfg(test)]
mod client;
#[cfg(test)]
mod forgetting;
#[cfg(test)]
mod full;
#[cfg(test)]
mod knowing;
#[cfg(test)]
mod listing;
#[cfg(test)]
mod parts;
#[cfg(test)]
mod protocol;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod storing;
#[cfg(test)]
mod working;
