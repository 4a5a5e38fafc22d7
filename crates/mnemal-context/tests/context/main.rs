//! Guarantees of contexts, through the public API with scripted sources.

#[cfg(test)]
mod budget;
#[cfg(test)]
mod cache;
#[cfg(test)]
mod choice;
#[cfg(test)]
mod delta;
#[cfg(test)]
mod fakes;
#[cfg(test)]
mod gaps;
#[cfg(test)]
mod rendering;
#[cfg(test)]
mod state;
