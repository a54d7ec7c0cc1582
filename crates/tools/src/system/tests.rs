use std::fs;
use std::path::Path;

use tenpass_agent::describe::findings;

use super::*;

async fn ask(info: &SystemInfo, topic: &str) -> ToolOutput {
    let arguments = json!({ "topic": topic });
    info.run(arguments.as_object().unwrap(), &crate::files::test_context()).await
}

fn supply(folder: &Path, name: &str, values: &[(&str, &str)]) {
    fs::create_dir_all(folder.join(name)).unwrap();
    for (key, value) in values {
        fs::write(folder.join(name).join(key), format!("{value}\n")).unwrap();
    }
}

#[tokio::test]
async fn every_topic_states_when_and_what_was_measured() {
    let info = SystemInfo::new();
    assert_eq!(findings(info.definition()), []);
    for (topic, word) in [
        ("cpu", "Processor: "),
        ("memory", "Memory: "),
        ("disk", "isk"),
        ("network", "etwork interface"),
        ("battery", "attery"),
    ] {
        let output = ask(&info, topic).await;
        assert!(output.ok && output.untrusted.is_none());
        assert!(output.text.starts_with("Measured on this computer at 2024-06-01 12:00. "), "{}", output.text);
        assert!(output.text.contains(word), "{}", output.text);
    }
    assert!(!ask(&info, "weather").await.ok);
}

#[tokio::test]
async fn the_figures_are_this_computer_s() {
    let info = SystemInfo::new();
    let cores = std::thread::available_parallelism().unwrap().get();
    let text = ask(&info, "cpu").await.text;
    let stated: usize = text.split(" logical cores").next().unwrap().rsplit(' ').next().unwrap().parse().unwrap();
    // A container may be allowed fewer than the machine has.
    assert!(stated >= cores, "{text}");
    assert!(text.contains(" ms."), "{text}");
    #[cfg(target_os = "linux")]
    {
        let kilobytes: u64 =
            fs::read_to_string("/proc/meminfo").unwrap().split_whitespace().nth(1).unwrap().parse().unwrap();
        let text = ask(&info, "memory").await.text;
        assert!(text.contains(&format!("of {} used", crate::files::shown_bytes(kilobytes * 1024))), "{text}");
    }
}

#[tokio::test]
async fn batteries_are_read_as_the_kernel_describes_them() {
    let folder = tempfile::tempdir().unwrap();
    let info = SystemInfo::with_power_supplies(folder.path());
    let none = ask(&info, "battery").await.text;
    assert!(none.ends_with("This computer has no battery that can be measured."), "{none}");
    supply(folder.path(), "AC", &[("type", "Mains"), ("online", "0")]);
    supply(
        folder.path(),
        "BAT0",
        &[
            ("type", "Battery"),
            ("capacity", "87"),
            ("status", "Discharging"),
            ("energy_now", "40000000"),
            ("power_now", "12000000"),
        ],
    );
    supply(
        folder.path(),
        "hidpp_battery_0",
        &[("type", "Battery"), ("scope", "Device"), ("capacity", "5"), ("status", "Full")],
    );
    let text = ask(&info, "battery").await.text;
    assert!(
        text.ends_with("Battery: 87 %, discharging, about 3 h 20 min left. The charger is not connected."),
        "{text}"
    );
    supply(folder.path(), "AC", &[("online", "1")]);
    supply(folder.path(), "BAT0", &[("status", "Charging"), ("energy_full", "46000000")]);
    supply(folder.path(), "BAT1", &[("type", "Battery"), ("capacity", "100"), ("status", "Full")]);
    let text = ask(&info, "battery").await.text;
    assert!(
        text.ends_with("Battery 1: 87 %, charging, about 0 h 30 min until it is full. Battery 2: 100 %, full. The charger is connected."),
        "{text}"
    );
}
