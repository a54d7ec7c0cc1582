//! Which network addresses may be connected to: only those that are globally reachable unicast.
//!
//! Source: the IANA special-purpose address registries (RFC 6890 and its updates). IPv6 is an
//! allow-list (2000::/3 without its special parts), so everything that carries an IPv4 address in
//! disguise (mapped, compatible, NAT64) is outside it.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// (network, prefix length, what it is)
const REFUSED_V4: &[(Ipv4Addr, u32, &str)] = &[
    (Ipv4Addr::UNSPECIFIED, 8, "\"this network\""),
    (Ipv4Addr::new(10, 0, 0, 0), 8, "a private network"),
    (Ipv4Addr::new(100, 64, 0, 0), 10, "a carrier's private network"),
    (Ipv4Addr::new(127, 0, 0, 0), 8, "this machine"),
    // Azure's platform address: a metadata service with a public number.
    (Ipv4Addr::new(168, 63, 129, 16), 32, "a cloud metadata service"),
    (Ipv4Addr::new(169, 254, 0, 0), 16, "link-local, where cloud metadata services are"),
    (Ipv4Addr::new(172, 16, 0, 0), 12, "a private network"),
    (Ipv4Addr::new(192, 0, 0, 0), 24, "reserved for protocols"),
    (Ipv4Addr::new(192, 0, 2, 0), 24, "for documentation"),
    (Ipv4Addr::new(192, 31, 196, 0), 24, "reserved for AS112"),
    (Ipv4Addr::new(192, 52, 193, 0), 24, "reserved for AMT"),
    (Ipv4Addr::new(192, 88, 99, 0), 24, "a 6to4 relay"),
    (Ipv4Addr::new(192, 168, 0, 0), 16, "a private network"),
    (Ipv4Addr::new(192, 175, 48, 0), 24, "reserved for AS112"),
    (Ipv4Addr::new(198, 18, 0, 0), 15, "for benchmarks"),
    (Ipv4Addr::new(198, 51, 100, 0), 24, "for documentation"),
    (Ipv4Addr::new(203, 0, 113, 0), 24, "for documentation"),
    (Ipv4Addr::new(224, 0, 0, 0), 4, "multicast"),
    (Ipv4Addr::new(240, 0, 0, 0), 4, "reserved"),
];

/// Parts of 2000::/3 that are not plain global unicast.
const REFUSED_V6: &[(Ipv6Addr, u32, &str)] = &[
    // Teredo (2001::/32), benchmarks (2001:2::/48), ORCHID and other protocol assignments.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, "reserved for protocols (Teredo and others)"),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, "for documentation"),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, "6to4, an IPv4 address in disguise"),
    (Ipv6Addr::new(0x2620, 0x4f, 0x8000, 0, 0, 0, 0, 0), 48, "reserved for AS112"),
    (Ipv6Addr::new(0x3ffe, 0, 0, 0, 0, 0, 0, 0), 16, "the former 6bone"),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, "for documentation"),
];

/// Why nothing may be fetched from `address`; `None` when it is globally reachable.
pub fn refused(address: IpAddr) -> Option<&'static str> {
    match address {
        IpAddr::V4(address) => refused_v4(address),
        IpAddr::V6(address) => refused_v6(address),
    }
}

fn refused_v4(address: Ipv4Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    let inside = |network: &Ipv4Addr, length: u32| (bits ^ network.to_bits()).leading_zeros() >= length;
    REFUSED_V4.iter().find(|(network, length, _)| inside(network, *length)).map(|(_, _, what)| *what)
}

fn refused_v6(address: Ipv6Addr) -> Option<&'static str> {
    let bits = address.to_bits();
    if bits >> 125 != 1 {
        return Some(match address.segments() {
            [0, 0, 0, 0, 0, 0, 0, 1] => "this machine",
            [0, 0, 0, 0, 0, 0xffff | 0, ..] => "an IPv4 address in disguise",
            [0x64, 0xff9b, ..] => "NAT64, an IPv4 address in disguise",
            [first, ..] if first & 0xfe00 == 0xfc00 => "a private network",
            [first, ..] if first & 0xffc0 == 0xfe80 => "link-local",
            [first, ..] if first & 0xff00 == 0xff00 => "multicast",
            _ => "reserved",
        });
    }
    // ISATAP puts an IPv4 address behind ::0:5efe or ::200:5efe in any network.
    if matches!(address.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _]) {
        return Some("ISATAP, an IPv4 address in disguise");
    }
    let inside = |network: &Ipv6Addr, length: u32| (bits ^ network.to_bits()).leading_zeros() >= length;
    REFUSED_V6.iter().find(|(network, length, _)| inside(network, *length)).map(|(_, _, what)| *what)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn every_kind_of_address_of_the_threat_model_is_refused() {
        for text in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.169.254",
            "169.254.170.2",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.1.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.7",
            "203.0.113.9",
            "224.0.0.1",
            "239.255.255.250",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::127.0.0.1",
            "::ffff:127.0.0.1",
            "::ffff:8.8.8.8",
            "::ffff:0:7f00:1",
            "64:ff9b::7f00:1",
            "64:ff9b::808:808",
            "64:ff9b:1::1",
            "100::1",
            "2001::1",
            "2001:0:7f00:1::",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002:7f00:1::",
            "2002:808:808::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "fec0::1",
            "ff02::1",
            "2a00:1450::5efe:a00:1",
            "2a00:1450::200:5efe:a00:1",
        ] {
            assert!(refused(ip(text)).is_some(), "{text}");
        }
    }

    #[test]
    fn public_addresses_are_allowed() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.0.1",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2003::1",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "3fff:1000::1",
        ] {
            assert_eq!(refused(ip(text)), None, "{text}");
        }
    }

    /// The same rule said in another way: from octets and the standard library's predicates.
    fn is_special_v4(address: Ipv4Addr) -> bool {
        let [a, b, c, d] = address.octets();
        address.is_private()
            || address.is_loopback()
            || address.is_link_local()
            || address.is_multicast()
            || address.is_broadcast()
            || address.is_documentation()
            || a == 0
            || a >= 240
            || (a == 100 && (64..128).contains(&b))
            || (a == 198 && (b == 18 || b == 19))
            || (a == 192 && matches!((b, c), (0, 0) | (31, 196) | (52, 193) | (88, 99) | (175, 48)))
            || (a, b, c, d) == (168, 63, 129, 16)
    }

    fn is_special_v6(address: Ipv6Addr) -> bool {
        let text = format!("{:032x}", address.to_bits());
        let global = text.starts_with('2') || text.starts_with('3');
        let special = ["20010db8", "2002", "2620004f8000", "3ffe", "3fff0"].iter().any(|start| text.starts_with(start))
            || ("20010000".."20010200").contains(&&text[..8])
            || matches!(&text[16..24], "00005efe" | "02005efe");
        !global || special
    }

    fn near_v4() -> impl Strategy<Value = u32> {
        let edges: Vec<u32> = REFUSED_V4
            .iter()
            .flat_map(|(network, length, _)| {
                let first = network.to_bits();
                let last = first | u32::MAX.checked_shr(*length).unwrap_or(0);
                [first, first.wrapping_sub(1), last, last.wrapping_add(1)]
            })
            .collect();
        prop_oneof![any::<u32>(), prop::sample::select(edges)]
    }

    fn near_v6() -> impl Strategy<Value = u128> {
        let edges: Vec<u128> = REFUSED_V6
            .iter()
            .flat_map(|(network, length, _)| {
                let first = network.to_bits();
                let last = first | (u128::MAX >> length);
                [first, first.wrapping_sub(1), last, last.wrapping_add(1)]
            })
            .collect();
        let global = any::<u128>().prop_map(|bits| bits >> 3 | 1 << 125);
        let isatap = any::<u128>().prop_map(|bits| bits >> 3 & !(0xffff_ffff << 32) | 1 << 125 | 0x5efe << 32);
        prop_oneof![any::<u128>(), global, isatap, prop::sample::select(edges), any::<u32>().prop_map(u128::from)]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(4096))]
        #[test]
        fn both_formulations_agree(v4 in near_v4(), v6 in near_v6()) {
            let v4 = Ipv4Addr::from_bits(v4);
            prop_assert_eq!(refused_v4(v4).is_some(), is_special_v4(v4), "{}", v4);
            prop_assert!(refused(IpAddr::V6(v4.to_ipv6_mapped())).is_some());
            prop_assert!(refused(IpAddr::V6(v4.to_ipv6_compatible())).is_some());
            let v6 = Ipv6Addr::from_bits(v6);
            prop_assert_eq!(refused_v6(v6).is_some(), is_special_v6(v6), "{}", v6);
        }
    }
}
