//! Processor, disks, memory and network, in words.

use std::time::Instant;

use sysinfo::{Disks, MINIMUM_CPU_UPDATE_INTERVAL, Networks, System};

use crate::files::{invisible, shown_bytes};

/// Most disks or interfaces that are listed.
const MOST_LISTED: usize = 20;

/// The system does not let itself be measured.
const NOTHING: &str = "The system gives no figures.";

pub(crate) fn processor() -> String {
    let Ok(mut system) = System::new() else { return NOTHING.to_owned() };
    system.refresh_cpu_all();
    let started = Instant::now();
    // Use is a difference between two readings.
    std::thread::sleep(MINIMUM_CPU_UPDATE_INTERVAL);
    system.refresh_cpu_all();
    let elapsed_ms = started.elapsed().as_millis();
    let model = system.cpus().first().map(|processor| plain(processor.brand())).filter(|model| !model.is_empty());
    let mut text = format!(
        "Processor: {}, {} logical cores, {:.0} % used over the last {elapsed_ms} ms.",
        model.unwrap_or_else(|| "unknown model".to_owned()),
        system.cpus().len(),
        system.global_cpu_usage(),
    );
    if let Ok(load) = System::load_average()
        && load.fifteen > 0.0
    {
        text.push_str(&format!(
            " Load average: {:.2} (1 min), {:.2} (5 min), {:.2} (15 min).",
            load.one, load.five, load.fifteen
        ));
    }
    text
}

pub(crate) fn memory() -> String {
    let Ok(mut system) = System::new() else { return NOTHING.to_owned() };
    system.refresh_memory();
    let (total, available) = (system.total_memory(), system.available_memory());
    let used = total.saturating_sub(available);
    let mut text = format!(
        "Memory: {} of {} used ({:.0} %), {} available.",
        shown_bytes(used),
        shown_bytes(total),
        share(used, total),
        shown_bytes(available)
    );
    match system.total_swap() {
        0 => text.push_str(" No swap."),
        swap => text.push_str(&format!(" Swap: {} of {} used.", shown_bytes(system.used_swap()), shown_bytes(swap))),
    }
    text
}

pub(crate) fn disks() -> String {
    let Ok(disks) = Disks::new_with_refreshed_list() else { return NOTHING.to_owned() };
    let mut seen: Vec<(String, u64, u64)> = Vec::new();
    let mut lines = Vec::new();
    for disk in &disks {
        let device = disk.name().to_string_lossy().into_owned();
        let (total, free) = (disk.total_space(), disk.available_space());
        // One device mounted in several places is one disk.
        if total == 0 || seen.contains(&(device.clone(), total, free)) {
            continue;
        }
        seen.push((device, total, free));
        let place = plain(&disk.mount_point().to_string_lossy());
        let removable = if disk.is_removable() { ", removable" } else { "" };
        lines.push(format!(
            "{place}: {} free of {} ({:.0} % used{removable})",
            shown_bytes(free),
            shown_bytes(total),
            share(total - free.min(total), total)
        ));
    }
    listed("Disks, by where they are mounted", "No disk can be measured.", &lines)
}

pub(crate) fn network() -> String {
    let Ok(networks) = Networks::new_with_refreshed_list() else { return NOTHING.to_owned() };
    let mut lines: Vec<String> = networks
        .iter()
        .map(|(name, data)| {
            format!(
                "{}: {} received, {} sent",
                plain(&name.to_string_lossy()),
                shown_bytes(data.total_received()),
                shown_bytes(data.total_transmitted())
            )
        })
        .collect();
    lines.sort();
    listed("Network interfaces, totals since they came up", "No network interface can be measured.", &lines)
}

fn listed(title: &str, nothing: &str, lines: &[String]) -> String {
    if lines.is_empty() {
        return nothing.to_owned();
    }
    let mut text = format!("{title}:");
    text.extend(lines.iter().take(MOST_LISTED).map(|line| format!("\n{line}")));
    if lines.len() > MOST_LISTED {
        text.push_str(&format!("\n… and {} more", lines.len() - MOST_LISTED));
    }
    text
}

/// The label of a stick is whatever its owner wrote on it: one short line of it is shown.
fn plain(name: &str) -> String {
    name.trim().chars().filter(|character| !invisible(*character)).take(60).collect()
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 * 100.0 }
}
