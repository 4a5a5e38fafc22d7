//! Recall over the reference store, asked through its public face.

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
