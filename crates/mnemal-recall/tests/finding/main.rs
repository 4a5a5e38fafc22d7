//! Recall over the reference store, through the public API.

#[cfg(test)]
mod choosing;
#[cfg(test)]
mod languages;
#[cfg(test)]
mod ranking;
#[cfg(test)]
mod reading;
#[cfg(test)]
mod space;
