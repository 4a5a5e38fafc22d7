//! Guarantees of notes, on the in-memory reference store.

#[cfg(test)]
mod anti_patterns;
#[cfg(test)]
mod choosing;
mod forbidden;
#[cfg(test)]
mod learned;
#[cfg(test)]
mod life_cycle;
#[cfg(test)]
mod log;
#[cfg(test)]
mod offering;
#[cfg(test)]
mod operations;
#[cfg(test)]
mod ordinary;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod rebuild;
#[cfg(test)]
mod tasks;
#[cfg(test)]
mod versions;
#[cfg(test)]
mod window;
