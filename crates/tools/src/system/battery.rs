//! Batteries, as the Linux kernel describes them (Documentation/ABI/testing/sysfs-class-power).

use std::fs;
use std::path::Path;

/// Every battery in words, and whether a charger is connected.
pub(crate) fn measure(supplies: &Path) -> String {
    let mut batteries = Vec::new();
    let mut plugged = None;
    let mut entries: Vec<_> =
        fs::read_dir(supplies).into_iter().flatten().flatten().map(|entry| entry.path()).collect();
    entries.sort();
    for supply in entries {
        match value(&supply, "type").as_deref() {
            // A mouse or a headset has a battery too, which is not the computer's.
            Some("Battery") if value(&supply, "scope").as_deref() != Some("Device") => batteries.push(battery(&supply)),
            Some("Mains" | "USB") => {
                plugged = Some(plugged == Some(true) || value(&supply, "online").as_deref() == Some("1"));
            }
            _ => {}
        }
    }
    let mut text = match batteries.as_slice() {
        [] => return "This computer has no battery that can be measured.".to_owned(),
        [one] => format!("Battery: {one}."),
        several => several
            .iter()
            .zip(1..)
            .map(|(battery, number)| format!("Battery {number}: {battery}."))
            .collect::<Vec<_>>()
            .join(" "),
    };
    match plugged {
        Some(true) => text.push_str(" The charger is connected."),
        Some(false) => text.push_str(" The charger is not connected."),
        None => {}
    }
    text
}

/// `87 %, discharging, about 3 h 20 min left`.
fn battery(supply: &Path) -> String {
    let level = number(supply, "capacity").map_or_else(|| "unknown level".to_owned(), |level| format!("{level:.0} %"));
    let status = value(supply, "status").unwrap_or_default().to_lowercase();
    let state = match status.as_str() {
        "charging" | "discharging" | "full" => status.as_str(),
        "not charging" => "not charging",
        _ => "unknown state",
    };
    let mut text = format!("{level}, {state}");
    // Energy in µWh with power in µW, or charge in µAh with current in µA.
    let rate =
        number(supply, "power_now").or_else(|| number(supply, "current_now")).map(f64::abs).filter(|rate| *rate > 0.0);
    let now = number(supply, "energy_now").or_else(|| number(supply, "charge_now"));
    let full = number(supply, "energy_full").or_else(|| number(supply, "charge_full"));
    let hours = match (state, rate, now, full) {
        ("discharging", Some(rate), Some(now), _) => Some((now / rate, "left")),
        ("charging", Some(rate), Some(now), Some(full)) if full > now => {
            Some(((full - now) / rate, "until it is full"))
        }
        _ => None,
    };
    if let Some((hours, until)) = hours.filter(|(hours, _)| *hours < 100.0) {
        let minutes = (hours * 60.0).round() as u64;
        text.push_str(&format!(", about {} h {:02} min {until}", minutes / 60, minutes % 60));
    }
    text
}

fn value(supply: &Path, name: &str) -> Option<String> {
    fs::read_to_string(supply.join(name)).ok().map(|value| value.trim().to_owned())
}

fn number(supply: &Path, name: &str) -> Option<f64> {
    value(supply, name)?.parse().ok()
}
