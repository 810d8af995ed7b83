// JMeter's objects for scripts. In Rhino, Java strings are objects with Java's methods (so that `vars.get("x").length()` is a
// call and `vars.get("x") === "5"` is never true). In Nashorn, they are JavaScript strings with Java's methods in addition.
(function (host, nashorn) {
  'use strict';
  const NativeDate = Date, nativeParseInt = parseInt, nativeString = String;
  const refuse = (what) => { host.refuse(what); throw new Error(what + ' is not supported'); };
  const StringPrototype = nativeString.prototype, hasOwn = Object.hasOwn;
  const slots = new WeakMap();
  let interned = Object.create(null);

  const plain = (value) => {
    if (typeof value !== 'object' || value === null) return value;
    if (slots.has(value)) return slots.get(value);
    return nashorn && value instanceof nativeString ? value.valueOf() : value;
  };
  const primitive = (value, what) => {
    value = plain(value);
    if (value !== null && (typeof value === 'object' || typeof value === 'function')) refuse(what + ' with an object');
    return value;
  };
  const word = (value) => nativeString(primitive(value, 'a call of a Java method'));

  const methods = {
    length() { return text(this).length; },
    isEmpty() { return text(this).length === 0; },
    charAt(at) {
      const own = text(this);
      if (!(at >= 0 && at < own.length)) throw new Error('there is no character at index ' + at);
      return own.charCodeAt(at);
    },
    substring(from, to) {
      const own = text(this), end = to === undefined ? own.length : to;
      if (!(from >= 0 && from <= end && end <= own.length)) throw new Error('index out of range');
      return java(own.substring(from, end));
    },
    indexOf(other, from) { return text(this).indexOf(word(other), from); },
    lastIndexOf(other) { return text(this).lastIndexOf(word(other)); },
    contains(other) { return text(this).includes(word(other)); },
    startsWith(other) { return text(this).startsWith(word(other)); },
    endsWith(other) { return text(this).endsWith(word(other)); },
    equals(other) { return plain(other) === text(this); },
    equalsIgnoreCase(other) { return word(other).toLowerCase() === text(this).toLowerCase(); },
    concat(other) { return java(text(this) + word(other)); },
    toUpperCase() { return java(text(this).toUpperCase()); },
    toLowerCase() { return java(text(this).toLowerCase()); },
    trim() { return java(text(this).replace(/^[\u0000- ]+|[\u0000- ]+$/g, '')); },
    replace(from, to) { return java(text(this).split(word(from)).join(word(to))); },
    split(separator) {
      separator = word(separator);
      if (separator.length !== 1 || '.$|()[{^?*+\\'.includes(separator)) {
        return received(host.callOfText(text(this), 'split', [separator]));
      }
      const items = text(this).split(separator);
      while (items.length > 1 && items[items.length - 1] === '') items.pop();
      return texts(items);
    },
    toString() { return text(this); },
    toJSON() { refuse('JSON of a Java string'); },
  };
  const ofJava = ['codePointAt', 'compareTo', 'compareToIgnoreCase', 'getBytes', 'hashCode', 'isBlank', 'matches', 'repeat', 'replaceAll',
    'replaceFirst', 'strip', 'toCharArray'];
  for (const name of ofJava) {
    methods[name] = function (...given) { return received(host.callOfText(text(this), name, given.map(passed))); };
  }
  for (const name of ['format', 'getClass', 'intern', 'valueOf', 'lines', 'chars', 'class', 'bytes', 'empty', 'blank']) {
    methods[name] = function () { refuse('`' + name + '` of a Java string'); };
  }
  methods[Symbol.toPrimitive] = function () { return text(this); };
  const prototype = Object.freeze(Object.setPrototypeOf(methods, StringPrototype));
  const text = (value) => (slots.has(value) ? slots.get(value) : nativeString(value));
  // Equal strings are the same object, because `==` between two Java strings compares their contents.
  const java = (value) => {
    if (value === null || value === undefined) return null;
    if (nashorn) return value;
    const key = '$' + value;
    let found = interned[key];
    if (!found) {
      found = Object.create(prototype);
      slots.set(found, value);
      interned[key] = Object.freeze(found);
    }
    return found;
  };
  // A `String[]`.
  const texts = (items) => {
    const list = items.map(java);
    Object.defineProperty(list, 'toString', { value: () => refuse('the text of a Java array') });
    return list;
  };

  // The host stores Java objects under numbers. JMeter's own objects have the first numbers and always exist.
  const VARS = 0, PROPS = 1, LOG = 2, CONTEXT = 3, HOSTS = host.hosts;
  const ids = new WeakMap();
  let proxies = [];
  const exception = (thrown, message) => {
    const error = new Error(nashorn ? message : thrown + (message === '' ? '' : ': ' + message));
    error.name = nashorn ? thrown : 'JavaException';
    error.getMessage = () => java(message);
    return error;
  };
  // Converts a value from Java.
  const received = (value) => {
    if (typeof value === 'string') return java(value);
    if (typeof value !== 'object' || value === null) return value;
    if (value.texts) return texts(value.texts);
    if (value.thrown !== undefined) throw exception(value.thrown, value.message);
    return proxy(value.id, value.isClass);
  };
  // Converts a value for Java.
  const passed = (value) => {
    value = plain(value);
    if (value === undefined || value === null) return null;
    if (typeof value !== 'object' && typeof value !== 'function') return value;
    return ids.has(value) ? { id: ids.get(value) } : refuse('a JavaScript object as an argument of a Java method');
  };
  // Converts a value for a Java parameter of type String.
  const passedText = (value) => {
    const given = value === undefined ? 'undefined' : passed(value);
    return given === null || typeof given === 'object' ? given : nativeString(given);
  };
  // Methods of JMeter's objects whose arguments are strings.
  const textual = new Set(['get', 'getObject', 'getVarValue', 'trace', 'debug', 'info', 'warn', 'error', 'print', 'println',
    'getProperty', 'setProperty', 'containsKey', 'setResponseCode', 'setResponseMessage', 'setSampleLabel', 'setResponseData',
    'setResponseHeaders', 'setRequestHeaders', 'setSamplerData', 'setContentType', 'setDataEncoding', 'setDataType',
    'setThreadName', 'setFailureMessage', 'setResultForFailure', 'getResponseDataAsString']);
  const callable = (id, name) => (...given) =>
    received(host.call(id, name, given.map(id < HOSTS && textual.has(name) ? passedText : passed)));
  const capital = (name) => name[0].toUpperCase() + name.slice(1);
  const member = (id, key) => {
    if (key === Symbol.toPrimitive) return () => host.text(id);
    if (typeof key === 'symbol') refuse('this use of a Java object');
    if (/^[0-9]+$/.test(key)) return received(host.item(id, Number(key)));
    // In scripts for Nashorn, `screen.rs` replaces `length()` by `length`, because strings have it as a property and a method.
    if (nashorn && key === 'length' && host.hasMethod(id, key)) return received(host.call(id, key, []));
    return host.hasMethod(id, key) ? callable(id, key) : received(host.property(id, key));
  };
  const proxy = (id, isClass) => {
    if (proxies[id]) return proxies[id];
    const created = new Proxy(isClass ? function () {} : {}, {
      get(target, key) { return member(id, key); },
      set(target, key, value) {
        const name = 'set' + capital(nativeString(key));
        callable(id, name)(value);
        return true;
      },
      construct(target, given) {
        const value = received(host.construct(id, given.map(passed)));
        return Object(value);
      },
      apply() { refuse('calling a class of Java'); },
      has() { refuse('looking for a property of a Java object'); },
      ownKeys() { refuse('listing a Java object'); },
      deleteProperty() { refuse('changing a Java object'); },
    });
    ids.set(created, id);
    proxies[id] = created;
    return created;
  };

  // JMeter's most used objects have their most used methods here; other members are looked up in the host.
  const object = (id, name, members, absent) => {
    const created = new Proxy(members, {
      get(target, key) {
        if (hasOwn(target, key)) return target[key];
        if (typeof key === 'symbol') refuse('`' + name + '` as a value');
        if (absent && !absent.has(key)) return undefined;
        return member(id, key);
      },
      set() { refuse('changing `' + name + '`'); },
      has() { refuse('looking for a property of `' + name + '`'); },
      ownKeys() { refuse('listing `' + name + '`'); },
      deleteProperty() { refuse('changing `' + name + '`'); },
    });
    ids.set(created, id);
    return created;
  };
  const setting = (value) => {
    if (typeof value === 'function') refuse('a function as a value');
    return value === null ? null : nativeString(value);
  };

  // Java has no method with any other number of arguments.
  const exact = (count, work) => (...given) => (given.length === count ? work(...given) : refuse('this number of arguments'));
  const vars = object(VARS, 'vars', {
    get: exact(1, (name) => java(host.get(word(name)))),
    put: exact(2, (name, value) => { host.put(word(name), setting(value)); }),
    remove: exact(1, (name) => received(host.call(VARS, 'remove', [word(name)]))),
  }, new Set(['getObject', 'putObject', 'putAll', 'getThreadName', 'threadName', 'getIteration', 'iteration', 'incIteration', 'class',
    'getClass', 'entrySet', 'iterator', 'toString', 'hashCode', 'equals', 'isSameUserOnNextIteration', 'empty']));
  const property = (name, value) => {
    const known = host.propertyOfTest(word(name));
    return java(known === null && value !== undefined ? setting(value) : known);
  };
  const setProperty = exact(2, (name, value) => {
    const old = host.propertyOfTest(word(name));
    if (typeof plain(value) !== 'string') refuse('a property that is not a string');
    host.setPropertyOfTest(word(name), plain(value));
    return java(old);
  });
  const props = object(PROPS, 'props', { get: exact(1, (name) => property(name)), getProperty: property, put: setProperty, setProperty });
  const level = (number, name) => (...given) => {
    if (given.length !== 1) return callable(LOG, name)(...given);
    host.log(number, nativeString(primitive(given[0], '`log`')));
  };
  const log = object(LOG, 'log', {
    trace: level(0, 'trace'), debug: level(1, 'debug'), info: level(2, 'info'), warn: level(3, 'warn'), error: level(4, 'error'),
  });
  const own = [];
  own[VARS] = vars;
  own[PROPS] = props;
  own[LOG] = log;

  // Clock and random numbers belong to the virtual user. The string representation of dates differs between engines.
  function UserDate(...parts) {
    if (!new.target) refuse('the text of a date');
    if (parts.length === 0) return new NativeDate(host.now());
    if (parts.length === 1 && typeof plain(parts[0]) === 'string') refuse('parsing a date');
    return new NativeDate(...parts.map(plain));
  }
  UserDate.prototype = NativeDate.prototype;
  UserDate.now = () => host.now();
  UserDate.UTC = NativeDate.UTC;
  UserDate.parse = () => refuse('parsing a date');
  for (const name of ['toString', 'toDateString', 'toTimeString', 'toLocaleString', 'toLocaleDateString',
    'toLocaleTimeString', 'toUTCString', 'toGMTString']) {
    Object.defineProperty(NativeDate.prototype, name, { value: () => refuse('the text of a date') });
  }
  Object.defineProperty(NativeDate.prototype, 'constructor', { value: UserDate });
  Math.random = () => host.random();
  // In Rhino, a leading zero still means an octal number.
  const readInt = nashorn ? nativeParseInt : (value, radix) => {
    const found = /^\s*([+-]?)0([0-9].*)$/.exec(nativeString(value));
    if (radix !== undefined || !found) return nativeParseInt(value, radix);
    return (found[1] === '-' ? -1 : 1) * nativeParseInt(found[2], 8);
  };
  const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: false, configurable: false });
  define('Date', UserDate);
  define('parseInt', readInt);

  delete StringPrototype.replaceAll;
  // Nashorn implements ECMAScript 5.1: it lacks later members, and strings also have Java's methods.
  if (nashorn) {
    const later = [
      [StringPrototype, 'includes startsWith endsWith repeat padStart padEnd trimStart trimEnd normalize at codePointAt matchAll ' +
        'replaceAll isWellFormed toWellFormed'],
      [Array.prototype, 'find findIndex findLast findLastIndex includes fill copyWithin entries keys values flat flatMap at with ' +
        'toSorted toReversed toSpliced'],
      [Array, 'from of fromAsync'],
      [Object, 'assign is values entries fromEntries getOwnPropertyDescriptors getOwnPropertySymbols hasOwn groupBy'],
      [Number, 'isInteger isSafeInteger isFinite isNaN parseFloat parseInt'],
      [nativeString, 'raw fromCodePoint'],
      [Math, 'trunc sign log10 log2 log1p expm1 cbrt hypot clz32 imul fround sinh cosh tanh asinh acosh atanh'],
    ];
    for (const [of, names] of later) {
      for (const name of names.split(' ')) Reflect.deleteProperty(of, name);
    }
    for (const name of ['contains', 'equals', 'equalsIgnoreCase', 'isEmpty', 'startsWith', 'endsWith'].concat(ofJava)) {
      Object.defineProperty(StringPrototype, name, {
        value(...given) { return received(host.callOfText(nativeString(this), name, given.map(passed))); },
      });
    }
    define('print', (...given) => { host.log(2, given.map((value) => nativeString(value)).join(' ')); });
    define('Java', Object.freeze({
      type(name) { return received(host.classOf(word(name))) || refuse('the class `' + word(name) + '`'); },
    }));
  }
  const packages = (path) => new Proxy({}, {
    get(target, key) {
      if (typeof key === 'symbol') refuse('a package as a value');
      const name = path === '' ? key : path + '.' + key;
      return received(host.classOf(name)) || packages(name);
    },
    set() { refuse('changing a package'); },
  });
  for (const name of ['java', 'javax', 'org', 'com']) define(name, packages(name));
  define('Packages', packages(''));
  for (const name of ['eval', 'Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'RegExp', 'Error', 'Math',
    'JSON', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError', 'parseFloat', 'isNaN', 'isFinite',
    'encodeURIComponent', 'decodeURIComponent', 'encodeURI', 'decodeURI', 'escape', 'unescape']) {
    define(name, globalThis[name]);
    if (typeof globalThis[name] !== 'function' || name !== 'Function') Object.freeze(globalThis[name]);
  }
  const known = new Set(Object.getOwnPropertyNames(globalThis));
  const evaluate = eval;
  const toString = Object.prototype.toString;

  return {
    // Parses a script inside a function, so that its names are not declared elsewhere.
    probe: evaluate('(function (source) { eval(source); })'),
    // Wraps a script into a function whose parameters are the bound names. An expression is returned directly; statements are
    // evaluated by `eval`, which returns their value.
    make(source, isExpression, names) {
      const body = isExpression ? 'return (' + source + '\n);' : 'return eval(' + JSON.stringify(source) + ');';
      return evaluate('(function (' + names + ') { ' + body + ' })');
    },
    // Runs a script with these values of its names, and returns its value as a string. For an element, null and undefined are
    // returned unchanged, because elements distinguish them from strings, unlike functions.
    run(script, given, isElement) {
      interned = Object.create(null);
      proxies = own.slice();
      try {
        const value = script(...given.map((value) => (typeof value === 'string' ? value : received(value))));
        if (isElement) {
          if (value === null || value === undefined) return value;
          if (typeof value !== 'object' || slots.has(value)) return nativeString(value);
          return ids.has(value) ? host.text(ids.get(value)) : toString.call(value);
        }
        if (typeof value === 'function') refuse('a function as the result');
        if (ids.has(value)) refuse('this object as the result');
        return nativeString(value);
      } finally {
        // Global names that the script has defined must not exist for the next script.
        for (const name of Object.getOwnPropertyNames(globalThis)) if (!known.has(name)) delete globalThis[name];
      }
    },
  };
})
