//! Expression languages: JEXL, JavaScript, and the plain subset of Groovy and BeanShell.
