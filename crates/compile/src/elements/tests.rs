use std::collections::HashSet;

use busyhour_diagnostic::Needs;

use super::*;

#[test]
fn every_class_has_one_descriptor() {
    let mut seen = HashSet::new();
    for descriptor in all() {
        assert!(seen.insert((descriptor.class, descriptor.gui)), "{} is described twice", descriptor.class);
        let is_unsupported = matches!(descriptor.role, Role::Unsupported(_));
        assert!(is_unsupported || !descriptor.name.is_empty(), "{} has no name", descriptor.class);
        assert!(!(is_unsupported && descriptor.listed), "{} is refused and listed", descriptor.class);
    }
}

#[test]
fn property_names_contain_a_prefix() {
    for descriptor in all() {
        for name in descriptor.properties {
            assert!(name.contains('.'), "{name} of {}", descriptor.class);
            assert!(!descriptor.numbers.contains(name), "{name} of {} is listed twice", descriptor.class);
        }
    }
}

/// The role of an element of this class.
fn role_of(class: &str, gui: &str) -> Role {
    let text = format!(
        "<jmeterTestPlan><hashTree><{class} guiclass=\"{gui}\" testname=\"x\"/></hashTree></jmeterTestPlan>"
    );
    let (plan, _) = busyhour_plan::parse(text.as_bytes(), "plan.jmx");
    role(plan.roots().next().expect("an element"))
}

#[test]
fn every_refusal_has_its_reason() {
    for (class, needs) in [
        ("JDBCSampler", Some(Needs::Java)),
        ("FTPSampler", Some(Needs::Protocol)),
        ("com.atlantbh.jmeter.plugins.hbasecrud.HbaseCrud", Some(Needs::Java)),
        ("com.blazemeter.jmeter.http2.sampler.HTTP2Controller", None),
        ("org.example.Sampler", Some(Needs::Plugin)),
    ] {
        let Role::Unsupported(refused) = role_of(class, "") else { panic!("{class} is supported") };
        assert_eq!(refused.needs, needs, "{class}");
        assert!(!refused.why.is_empty(), "{class}");
    }
    assert_eq!(role_of("NoClassOfJMeters", ""), Role::Unsupported(Refused { needs: None, why: "" }));
}

#[test]
fn config_elements_of_one_class_differ_in_their_editors() {
    assert_eq!(role_of("ConfigTestElement", "HttpDefaultsGui"), Role::Config(ConfigClass::HttpDefaults));
    assert_eq!(role_of("ConfigTestElement", "TCPConfigGui"), Role::Config(ConfigClass::TcpDefaults));
    assert!(matches!(role_of("ConfigTestElement", "FtpConfigGui"), Role::Inert(_)));
}

#[test]
fn listeners_of_plugins_are_recognized_by_their_names() {
    let own = ResultFileClass::Collector;
    assert_eq!(role_of("ResultCollector", ""), Role::ResultFile(own));
    assert_eq!(role_of("org.example.OwnResultCollector", ""), Role::ResultFile(own));
    let plugin = ResultFileClass::PluginCollector;
    assert_eq!(role_of("kg.apc.jmeter.vizualizers.CorrectedResultCollector", ""), Role::ResultFile(plugin));
    assert_eq!(role_of("kg.apc.jmeter.perfmon.PerfMonCollector", ""), Role::PerfMonCollector);
    assert_eq!(role_of("org.example.visualizers.Graph", ""), Role::DisplayListener);
    assert_eq!(role_of("com.blazemeter.jmeter.xmpp.Monitor", ""), Role::DisplayListener);
}
