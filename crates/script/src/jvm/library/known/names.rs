//! Names of classes that need no import. Any other name refers to a class only if the script imports or defines the class.

/// Classes of `java.lang`, `java.util`, `java.io` and `java.net` in Java 17.
const JAVA: &str = "\
    AbstractCollection AbstractList AbstractMap AbstractMethodError AbstractPlainDatagramSocketImpl \
    AbstractPlainSocketImpl AbstractQueue AbstractSequentialList AbstractSet AbstractStringBuilder Appendable \
    ApplicationShutdownHooks ArithmeticException ArrayDeque ArrayIndexOutOfBoundsException ArrayList \
    ArrayPrefixHelpers ArrayStoreException Arrays ArraysParallelSortHelpers AssertionError \
    AssertionStatusDirectives Authenticator AutoCloseable Base64 BindException BitSet Bits Boolean \
    BootstrapMethodError BufferedInputStream BufferedOutputStream BufferedReader BufferedWriter Byte \
    ByteArrayInputStream ByteArrayOutputStream CacheRequest CacheResponse Calendar CharArrayReader \
    CharArrayWriter CharConversionException CharSequence Character CharacterData CharacterData00 \
    CharacterData01 CharacterData02 CharacterData03 CharacterData0E CharacterDataLatin1 \
    CharacterDataPrivateUse CharacterDataUndefined CharacterName Class ClassCache ClassCastException \
    ClassCircularityError ClassFormatError ClassLoader ClassNotFoundException ClassValue \
    CloneNotSupportedException Cloneable Closeable CollSer Collection Collections Comparable \
    ComparableTimSort Comparator Comparators Compiler CompoundEnumeration ConcurrentModificationException \
    ConditionalSpecialCasing ConnectException Console ContentHandler ContentHandlerFactory CookieHandler \
    CookieManager CookiePolicy CookieStore Currency DataInput DataInputStream DataOutput DataOutputStream \
    DatagramPacket DatagramSocket DatagramSocketImpl DatagramSocketImplFactory Date \
    DefaultDatagramSocketImplFactory DefaultFileSystem DefaultInterface DelegatingSocketImpl DeleteOnExitHook \
    Deprecated Deque Dictionary Double DoubleSummaryStatistics DualPivotQuicksort \
    DuplicateFormatFlagsException EOFException EmptyStackException Enum EnumConstantNotPresentException \
    EnumMap EnumSet Enumeration Error EventListener EventListenerProxy EventObject Exception \
    ExceptionInInitializerError ExpiringCache Externalizable FactoryURLClassLoader FdLibm File FileCleanable \
    FileDescriptor FileFilter FileInputStream FileNameMap FileNotFoundException FileOutputStream \
    FilePermission FilePermissionCollection FileReader FileSystem FileWriter FilenameFilter FilterInputStream \
    FilterOutputStream FilterReader FilterWriter Float Flushable FormatFlagsConversionMismatchException \
    Formattable FormattableFlags Formatter FormatterClosedException FunctionalInterface GregorianCalendar \
    HashMap HashSet Hashtable HexFormat HostPortrange HttpConnectSocketImpl HttpCookie HttpRetryException \
    HttpURLConnection IDN IOError IOException IdentityHashMap IllegalAccessError IllegalAccessException \
    IllegalArgumentException IllegalCallerException IllegalFormatArgumentIndexException \
    IllegalFormatCodePointException IllegalFormatConversionException IllegalFormatException \
    IllegalFormatFlagsException IllegalFormatPrecisionException IllegalFormatWidthException \
    IllegalMonitorStateException IllegalStateException IllegalThreadStateException IllformedLocaleException \
    ImmutableCollections InMemoryCookieStore IncompatibleClassChangeError IndexOutOfBoundsException \
    Inet4Address Inet4AddressImpl Inet6Address Inet6AddressImpl InetAddress InetAddressContainer \
    InetAddressImpl InetAddressImplFactory InetSocketAddress InheritableThreadLocal InputMismatchException \
    InputStream InputStreamReader InstantiationError InstantiationException IntSummaryStatistics Integer \
    InterfaceAddress InternalError InterruptedException InterruptedIOException InvalidClassException \
    InvalidObjectException InvalidPropertiesFormatException Iterable Iterator JapaneseImperialCalendar \
    JarURLConnection JumboEnumSet KeyValueHolder LayerInstantiationException LineNumberInputStream \
    LineNumberReader LinkageError LinkedHashMap LinkedHashSet LinkedList List ListIterator ListResourceBundle \
    LiveStackFrame LiveStackFrameInfo Locale LocaleISOData Long LongSummaryStatistics MalformedURLException \
    Map Math MissingFormatArgumentException MissingFormatWidthException MissingResourceException Module \
    ModuleLayer MulticastSocket NamedPackage NavigableMap NavigableSet NegativeArraySizeException \
    NetMulticastSocket NetPermission NetworkInterface NoClassDefFoundError NoRouteToHostException \
    NoSuchElementException NoSuchFieldError NoSuchFieldException NoSuchMethodError NoSuchMethodException \
    NotActiveException NotSerializableException NullPointerException Number NumberFormatException Object \
    ObjectInput ObjectInputFilter ObjectInputStream ObjectInputValidation ObjectOutput ObjectOutputStream \
    ObjectStreamClass ObjectStreamConstants ObjectStreamException ObjectStreamField Objects Observable \
    Observer Optional OptionalDataException OptionalDouble OptionalInt OptionalLong OutOfMemoryError \
    OutputStream OutputStreamWriter Override Package PasswordAuthentication PipedInputStream \
    PipedOutputStream PipedReader PipedWriter PlainDatagramSocketImpl PlainSocketImpl \
    PortUnreachableException PrimitiveIterator PrintStream PrintWriter PriorityQueue Process ProcessBuilder \
    ProcessEnvironment ProcessHandle ProcessHandleImpl ProcessImpl Properties PropertyPermission \
    PropertyPermissionCollection PropertyResourceBundle ProtocolException ProtocolFamily Proxy ProxySelector \
    PublicMethods PushbackInputStream PushbackReader Queue Random RandomAccess RandomAccessFile Readable \
    Reader Record ReflectiveOperationException RegularEnumSet ResourceBundle ResponseCache Runnable Runtime \
    RuntimeException RuntimePermission SafeVarargs Scanner SecureCacheResponse SecurityException \
    SecurityManager SequenceInputStream Serial SerialCallbackContext Serializable SerializablePermission \
    ServerSocket ServiceConfigurationError ServiceLoader Set Short Shutdown SimpleTimeZone Socket \
    SocketAddress SocketCleanable SocketException SocketImpl SocketImplFactory SocketInputStream SocketOption \
    SocketOptions SocketOutputStream SocketPermission SocketPermissionCollection SocketTimeoutException \
    SocksConsts SocksSocketImpl SortedMap SortedSet Spliterator Spliterators SplittableRandom Stack \
    StackFrameInfo StackOverflowError StackStreamFactory StackTraceElement StackWalker StandardProtocolFamily \
    StandardSocketOptions StreamCorruptedException StreamTokenizer StrictMath String StringBuffer \
    StringBufferInputStream StringBuilder StringCoding StringConcatHelper StringIndexOutOfBoundsException \
    StringJoiner StringLatin1 StringReader StringTokenizer StringUTF16 StringWriter SuppressWarnings \
    SyncFailedException System TaskQueue Terminator Thread ThreadDeath ThreadGroup ThreadLocal Throwable \
    TimSort TimeZone Timer TimerTask TimerThread TooManyListenersException TreeMap TreeSet Tripwire \
    TypeNotPresentException URI URISyntaxException URL URLClassLoader URLConnection URLDecoder URLEncoder \
    URLPermission URLStreamHandler URLStreamHandlerFactory UTFDataFormatException UUID UncheckedIOException \
    UnixDomainSocketAddress UnixFileSystem UnknownContentHandler UnknownError \
    UnknownFormatConversionException UnknownFormatFlagsException UnknownHostException UnknownServiceException \
    UnsatisfiedLinkError UnsupportedClassVersionError UnsupportedEncodingException \
    UnsupportedOperationException UrlDeserializedState Vector VerifyError VersionProps VirtualMachineError \
    Void WeakHashMap WeakPairMap WriteAbortedException Writer";

/// Classes of `groovy.lang` and `groovy.util` in Groovy 3.0.
const GROOVY: &str = "\
    AbstractConcurrentMap AbstractConcurrentMapBase AbstractFactory AdaptingMetaClass ArrayIterable \
    ArrayIterator Arrays BeanUtils BenchmarkInterceptor Binding BooleanArrayIterator BufferedIterator \
    Buildable BuilderSupport ByteArrayIterator Category CharArrayIterator CharSequenceReader CharsetToolkit \
    Closure ClosureComparator ClosureException ClosureInvokingMethod ComplexKeyHashMap ConfigBinding \
    ConfigObject ConfigSlurper Delegate DelegatesTo DelegatingMetaClass DelegatingScript DeprecationException \
    DoubleArrayIterable DoubleArrayIterator EmptyRange Eval Expando ExpandoMetaClass \
    ExpandoMetaClassCreationHandle Factory FactoryBuilderSupport FactoryInterceptorMetaClass FastArray \
    FileNameByRegexFinder FileTreeBuilder Finalizable FloatArrayIterator GString GeneratedGroovyProxy Grab \
    GrabConfig GrabExclude GrabResolver Grapes GroovyCallable GroovyClassLoader GroovyCodeSource \
    GroovyCollections GroovyInterceptable GroovyMBean GroovyObject GroovyObjectSupport GroovyResourceLoader \
    GroovyRuntimeException GroovyScriptEngine GroovyShell GroovySystem Groovydoc HashCodeHelper \
    IFileNameFinder IllegalPropertyAccessException IncorrectClosureArgumentsException IndentPrinter \
    IntArrayIterable IntArrayIterator IntRange Interceptor IteratorBufferedIterator Lazy LazyReference \
    ListBufferedIterator ListHashMap ListWithDefault LockableObject LongArrayIterable LongArrayIterator \
    ManagedConcurrentLinkedQueue ManagedConcurrentMap ManagedConcurrentValueMap ManagedLinkedList \
    ManagedReference MapEntry MapWithDefault Maps MetaArrayLengthProperty MetaBeanProperty MetaClass \
    MetaClassImpl MetaClassRegistry MetaClassRegistryChangeEvent MetaClassRegistryChangeEventListener \
    MetaExpandoProperty MetaMethod MetaObjectProtocol MetaProperty MissingClassException \
    MissingFieldException MissingMethodException MissingPropertyException Mixin MutableMetaClass Newify Node \
    NodeBuilder NodeList NodePrinter NonEmptySequence NumberRange ObjectGraphBuilder ObjectHolder ObjectRange \
    ObservableList ObservableMap ObservableSet OrderBy ParameterArray PermutationGenerator \
    PropertyAccessInterceptor PropertyValue Proxy ProxyGenerator ProxyMetaClass Range \
    ReadOnlyPropertyException Reference ReferenceBundle ReferenceManager ReferenceType ReleaseInfo \
    ResourceConnector ResourceException Script ScriptException ScriptRunner Sequence ShortArrayIterator \
    SingleKeyHashMap Singleton SpreadListEvaluatingException SpreadMap SpreadMapEvaluatingException \
    StringUtil StringWriterIOException SystemUtil TracingInterceptor TrampolineClosure TripleKeyHashMap Tuple \
    Tuple0 Tuple1 Tuple10 Tuple11 Tuple12 Tuple13 Tuple14 Tuple15 Tuple16 Tuple2 Tuple3 Tuple4 Tuple5 Tuple6 \
    Tuple7 Tuple8 Tuple9 URLStreams Writable XmlNodePrinter XmlParser XmlSlurper XmlUtil";

/// Classes of `java.awt`, `java.awt.event`, `javax.swing` and `javax.swing.event`, which BeanShell imports.
const DESKTOP: &str = "\
    AWTError AWTEvent AWTEventListener AWTEventListenerProxy AWTEventMulticaster AWTException AWTKeyStroke \
    AWTPermission AbstractAction AbstractButton AbstractCellEditor AbstractListModel AbstractSpinnerModel \
    Action ActionEvent ActionListener ActionMap ActionPropertyChangeListener ActiveEvent Adjustable \
    AdjustmentEvent AdjustmentListener AlphaComposite AncestorEvent AncestorListener AncestorNotifier \
    ArrayTable AttributeValue Autoscroller BasicStroke BorderFactory BorderLayout BoundedRangeModel Box \
    BoxLayout BufferCapabilities BufferStrategyPaintManager Button ButtonGroup ButtonModel Canvas CardLayout \
    CaretEvent CaretListener CellEditor CellEditorListener CellRendererPane ChangeEvent ChangeListener \
    Checkbox CheckboxGroup CheckboxMenuItem Choice ClientPropertyKey Color ColorChooserDialog \
    ColorPaintContext ColorTracker ComboBoxEditor ComboBoxModel CompareTabOrderComparator Component \
    ComponentAdapter ComponentEvent ComponentInputMap ComponentListener ComponentOrientation Composite \
    CompositeContext Conditional Container ContainerAdapter ContainerEvent ContainerListener \
    ContainerOrderFocusTraversalPolicy Cursor DebugGraphics DebugGraphicsFilter DebugGraphicsInfo \
    DebugGraphicsObserver DefaultBoundedRangeModel DefaultButtonModel DefaultCellEditor DefaultComboBoxModel \
    DefaultDesktopManager DefaultFocusManager DefaultFocusTraversalPolicy DefaultKeyboardFocusManager \
    DefaultListCellRenderer DefaultListModel DefaultListSelectionModel DefaultRowSorter \
    DefaultSingleSelectionModel DelegatingDefaultFocusManager Desktop DesktopManager Dialog Dimension \
    DisplayMode DocumentEvent DocumentListener DropMode Event EventDispatchThread EventFilter \
    EventListenerList EventQueue FileDialog FlowLayout FocusAdapter FocusEvent FocusListener FocusManager \
    FocusTraversalPolicy Font FontFormatException FontMetrics Frame GradientPaint GradientPaintContext \
    Graphics Graphics2D GraphicsCallback GraphicsConfigTemplate GraphicsConfiguration GraphicsDevice \
    GraphicsEnvironment GraphicsWrapper GrayFilter GridBagConstraints GridBagLayout GridBagLayoutInfo \
    GridLayout GroupLayout HeadlessException HierarchyBoundsAdapter HierarchyBoundsListener HierarchyEvent \
    HierarchyListener HyperlinkEvent HyperlinkListener Icon IllegalComponentStateException Image \
    ImageCapabilities ImageIcon ImageMediaEntry InputEvent InputMap InputMethodEvent InputMethodListener \
    InputVerifier Insets InternalFrameAdapter InternalFrameEvent InternalFrameFocusTraversalPolicy \
    InternalFrameListener InvocationEvent ItemEvent ItemListener ItemSelectable JApplet JButton JCheckBox \
    JCheckBoxMenuItem JColorChooser JComboBox JComponent JDesktopPane JDialog JEditorPane JFileChooser \
    JFormattedTextField JFrame JInternalFrame JLabel JLayer JLayeredPane JList JMenu JMenuBar JMenuItem \
    JOptionPane JPanel JPasswordField JPopupMenu JProgressBar JRadioButton JRadioButtonMenuItem JRootPane \
    JScrollBar JScrollPane JSeparator JSlider JSpinner JSplitPane JTabbedPane JTable JTextArea JTextField \
    JTextPane JToggleButton JToolBar JToolTip JTree JViewport JWindow JobAttributes KeyAdapter KeyEvent \
    KeyEventDispatcher KeyEventPostProcessor KeyListener KeyStroke KeyboardFocusManager KeyboardManager Label \
    LayoutComparator LayoutFocusTraversalPolicy LayoutManager LayoutManager2 LayoutStyle \
    LegacyGlueFocusTraversalPolicy LegacyLayoutFocusTraversalPolicy LightweightDispatcher LinearGradientPaint \
    LinearGradientPaintContext List ListCellRenderer ListDataEvent ListDataListener ListModel \
    ListSelectionEvent ListSelectionListener ListSelectionModel LookAndFeel MediaEntry MediaTracker Menu \
    MenuBar MenuComponent MenuContainer MenuDragMouseEvent MenuDragMouseListener MenuElement MenuEvent \
    MenuItem MenuKeyEvent MenuKeyListener MenuListener MenuSelectionManager MenuShortcut ModalEventFilter \
    MouseAdapter MouseEvent MouseInfo MouseInputAdapter MouseInputListener MouseListener MouseMotionAdapter \
    MouseMotionListener MouseWheelEvent MouseWheelListener MultiUIDefaults MultipleGradientPaint \
    MultipleGradientPaintContext MutableComboBoxModel NativeLibLoader OverlayLayout PageAttributes Paint \
    PaintContext PaintEvent Painter Panel Point PointerInfo Polygon Popup PopupFactory PopupMenu \
    PopupMenuEvent PopupMenuListener PrintGraphics PrintJob ProgressMonitor ProgressMonitorInputStream Queue \
    RadialGradientPaint RadialGradientPaintContext Rectangle Renderer RenderingHints RepaintManager Robot \
    RootPaneContainer RowFilter RowSorter RowSorterEvent RowSorterListener ScrollPane ScrollPaneAdjustable \
    ScrollPaneConstants ScrollPaneLayout Scrollable Scrollbar SecondaryLoop SentEvent SequencedEvent Shape \
    SingleSelectionModel SizeRequirements SizeSequence SortOrder SortingFocusTraversalPolicy SpinnerDateModel \
    SpinnerListModel SpinnerModel SpinnerNumberModel SplashScreen Spring SpringLayout Stroke SwingConstants \
    SwingContainer SwingContainerOrderFocusTraversalPolicy SwingDefaultFocusTraversalPolicy SwingHeavyWeight \
    SwingPaintEventDispatcher SwingPropertyChangeSupport SwingUtilities SwingWorker SystemColor SystemTray \
    TableColumnModelEvent TableColumnModelListener TableModelEvent TableModelListener TablePrintable Taskbar \
    TextArea TextComponent TextEvent TextField TextListener TexturePaint TexturePaintContext Timer TimerQueue \
    ToolTipManager Toolkit TransferHandler Transparency TrayIcon TreeExpansionEvent TreeExpansionListener \
    TreeModelEvent TreeModelListener TreeSelectionEvent TreeSelectionListener TreeWillExpandListener \
    UIClientPropertyKey UIDefaults UIManager UndoableEditEvent UndoableEditListener \
    UnsupportedLookAndFeelException VKCollection ViewportLayout WaitDispatchSupport Window WindowAdapter \
    WindowConstants WindowEvent WindowFocusListener WindowListener WindowStateListener";

/// Whether a class with this simple name is available without an import, in Groovy or in BeanShell.
pub fn is_class_without_import(name: &str, groovy: bool) -> bool {
    let others = if groovy { GROOVY } else { DESKTOP };
    let is_among = |names: &str| names.split(' ').any(|known| known == name);
    is_among(JAVA)
        || is_among(others)
        || matches!(name, "BigDecimal" | "BigInteger" | "EvalError" | "Interpreter")
}

/// Functions of every Groovy script, whether they are implemented here or not: methods of `Script`, and methods that Groovy
/// adds to all objects.
const GROOVY_FUNCTIONS: &str = "\
    evaluate run getBinding setBinding getProperty setProperty invokeMethod getMetaClass setMetaClass use with \
    tap dump inspect each eachWithIndex collect find findAll any every iterator getAt putAt is isCase identity \
    addShutdownHook asType asBoolean toString hashCode equals getClass notify notifyAll wait hasProperty \
    respondsTo metaClass grep inject split findIndexOf findIndexValues findLastIndexOf findResult stream \
    getMetaPropertyValues getProperties isNotCase print println printf sprintf sleep getAsBoolean this super";

/// Commands of BeanShell, which every script can call as functions.
const BEANSHELL_COMMANDS: &str = "\
    addClassPath bg bind browseClass cat cd classBrowser clear cp debug desktop dir dirname editor error eval exec \
    exit extend fontMenu frame getBshPrompt getClass getClassPath getResource getSourceFileInfo importCommands \
    importObject javap load makeWorkspace mv object pathToFile print printBanner pwd reloadClasses rm run save server \
    setAccessibility setClassPath setFont setNameCompletion setNameSpace setStrictJava show source sourceRelative \
    thinBorder unset which workspaceEditor";

/// Whether BeanShell has a command with this name.
pub fn is_command_of_beanshell(name: &str) -> bool {
    BEANSHELL_COMMANDS.split(' ').any(|known| known == name)
}

/// Whether every Groovy script has a function with this name.
pub fn is_function_of_groovy(name: &str) -> bool {
    GROOVY_FUNCTIONS.split(' ').any(|known| known == name)
}
