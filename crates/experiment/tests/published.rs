//! Reproduces the numbers of a published study: bzip2 alone, with a neighbour that uses memory bandwidth (STREAM), and with the
//! neighbour confined to two ways of the cache.

use busyhour_experiment::{
    AnalysisSettings, Design, DesignFactor, DesignKind, DesignPlan, ResponseScale, ResponseTable, TrialOrder,
    TrialValue, analyse, recovered_loss, sentence,
};

#[test]
fn the_table_of_the_study_is_reproduced() {
    let factor = DesignFactor {
        name: "neighbour".to_owned(),
        levels: ["none", "stream", "stream, confined"].map(str::to_owned).to_vec(),
        base: 0,
    };
    let plan = DesignPlan {
        blocks: 4,
        order: TrialOrder::Mirrored,
        warm_up: 1,
        seed: 1,
        attempts_max: 3,
        trials_max: 100,
    };
    let design = Design::new(DesignKind::OneAtATime, vec![factor], plan).unwrap();
    // The study has one time of each case. The trials vary by 1 % around it.
    let published = [106.386, 141.372, 118.695];
    let variation = [[0.99, 1.01, 1.0], [1.01, 1.0, 0.99], [1.0, 0.99, 1.01], [1.0, 1.0, 1.0]];
    let values = variation.iter().zip(1..).flat_map(|(factors, block)| {
        let cases = published.iter().zip(factors).zip(1..);
        cases.map(move |((seconds, factor), case)| TrialValue { block, case, value: seconds * factor })
    });
    let table = ResponseTable::new(3, ResponseScale::Ratio, values).unwrap();
    let analysis = analyse(design.cases(), &table, AnalysisSettings::default());
    let changes: Vec<String> = analysis
        .cases
        .iter()
        .filter_map(|case| case.change.as_ref()?.change)
        .map(|change| format!("{change:+.1}"))
        .collect();
    assert_eq!(changes, ["+32.9", "+11.6"]);
    let recovered = recovered_loss(&table, 1, 2, 3, 0.95).unwrap();
    assert_eq!(format!("{:.1}", 100.0 * recovered.share), "64.8");
    assert!(recovered.low > 0.55 && recovered.high < 0.75, "{recovered:?}");
    insta::assert_snapshot!(sentence(design.cases(), &analysis, "time of bzip2"));
}
