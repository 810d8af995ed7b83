//! Functions on the hot path do not allocate in steady state.

mod world;

use world::World;

#[test]
fn common_functions_do_not_allocate_in_steady_state() {
    let texts = [
        "/item/${id}?n=${__counter(FALSE)}&m=${__counter(TRUE,m)}",
        "${__P(host,localhost)}:${__property(port,,8080)}${__V(a_${i},none)}",
        "${__Random(1,1000000,r)} ${__Random(${i},9)} ${__UUID} ${__RandomString(8,abcdef,s)}",
        "${__time} ${__time(/1000)} ${__time(yyyy-MM-dd HH:mm:ss.SSS)} ${__threadNum}",
        "${__intSum(1,${i},sum)} ${__longSum(${i},2,sum)} ${__isVarDefined(i)} ${__urlencode(a b)}",
    ];
    let (mut world, templates) = World::compiled(&texts);
    world.user.variables.set("id", "17");
    world.user.variables.set("i", "3");
    let mut out = String::with_capacity(4096);
    for (template, text) in templates.iter().zip(texts) {
        // The first evaluations allocate buffers, slots and states.
        for _ in 0..20 {
            out.clear();
            template.render(&mut world.user, &mut out);
        }
        let counted = allocation_counter::measure(|| {
            for _ in 0..100 {
                out.clear();
                template.render(&mut world.user, &mut out);
            }
        });
        assert_eq!(counted.count_total, 0, "{text} gives {out}");
    }
}
