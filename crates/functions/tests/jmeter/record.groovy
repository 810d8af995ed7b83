// Evaluates each line of cases.txt or scripts.txt in JMeter and prints the line and its result. To record again, run in this
// directory, with J the directory of JMeter 5.6.3 (for scripts.txt, write to scripts-recorded.txt):
//
//   TZ=UTC JMETER_HOME=$J java -cp "$J/lib/*:$J/lib/ext/*:$J/bin/ApacheJMeter.jar" groovy.ui.GroovyMain \
//     record.groovy < cases.txt | grep -a '^[=!<]' > recorded.txt
import org.apache.jmeter.engine.util.CompoundVariable
import org.apache.jmeter.threads.JMeterContextService
import org.apache.jmeter.threads.JMeterVariables
import org.apache.jmeter.util.JMeterUtils

def home = System.getenv("JMETER_HOME")
JMeterUtils.setJMeterHome(home)
JMeterUtils.loadJMeterProperties(home + "/bin/jmeter.properties")
JMeterUtils.initLocale()
def variables = new JMeterVariables()
JMeterContextService.getContext().setVariables(variables)

System.in.eachLine("UTF-8") { line ->
    if (line.isEmpty() || line.startsWith("#")) return
    println "< " + line
    if (line.startsWith("put ")) {
        def (name, value) = line.substring(4).split("=", 2)
        variables.put(name, value)
    } else if (line.startsWith("get ")) {
        println "= " + variables.get(line.substring(4))
    } else {
        try {
            def text = new CompoundVariable()
            text.setParameters(line)
            def value = text.execute()
            println "= " + value.replace("\n", "\u240a")
        } catch (Throwable failure) {
            println "! " + failure.class.simpleName
        }
    }
}
