// What JMeter's objects look like from inside a script. Java's texts are objects with Java's methods (so that
// `vars.get("x").length()` is a call and `vars.get("x") === "5"` never true), as they are in JMeter.
(function (host) {
  'use strict';
  const NativeDate = Date, nativeParseInt = parseInt, nativeString = String;
  const refuse = (what) => { throw new Error(what + ' is not supported'); };
  const StringPrototype = nativeString.prototype;
  const slots = new WeakMap();
  let interned = Object.create(null);

  const plain = (value) => (typeof value === 'object' && value !== null && slots.has(value) ? slots.get(value) : value);
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
      if (!(at >= 0 && at < own.length)) throw new Error('there is no character ' + at);
      return own.charCodeAt(at);
    },
    substring(from, to) {
      const own = text(this), end = to === undefined ? own.length : to;
      if (!(from >= 0 && from <= end && end <= own.length)) throw new Error('there are no such characters');
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
      if (separator.length !== 1 || '.$|()[{^?*+\\'.includes(separator)) refuse('splitting at a pattern');
      const items = text(this).split(separator);
      while (items.length > 1 && items[items.length - 1] === '') items.pop();
      const list = items.map(java);
      Object.defineProperty(list, 'toString', { value: () => refuse('the text of a Java array') });
      return list;
    },
    toString() { return text(this); },
    toJSON() { refuse('JSON of a Java text'); },
  };
  for (const name of ['codePointAt', 'compareTo', 'format', 'getBytes', 'getClass', 'hashCode', 'intern', 'matches',
    'replaceAll', 'replaceFirst', 'strip', 'toCharArray', 'valueOf', 'repeat', 'lines', 'chars', 'class', 'bytes', 'empty',
    'blank', 'isBlank']) {
    methods[name] = function () { refuse('`' + name + '` of a Java text'); };
  }
  methods[Symbol.toPrimitive] = function () { return text(this); };
  const prototype = Object.freeze(Object.setPrototypeOf(methods, StringPrototype));
  const text = (value) => (slots.has(value) ? slots.get(value) : nativeString(value));
  // Equal texts are one object, because `==` between two of them looks at their content.
  const java = (value) => {
    if (value === null || value === undefined) return null;
    const key = '$' + value;
    let found = interned[key];
    if (!found) {
      found = Object.create(prototype);
      slots.set(found, value);
      interned[key] = Object.freeze(found);
    }
    return found;
  };

  const object = (name, members, absent) => new Proxy(members, {
    get(target, key) {
      if (Object.hasOwn(target, key)) {
        const member = target[key];
        return member && member.getter ? member.getter() : member;
      }
      if (typeof key === 'symbol') refuse('`' + name + '` as a value');
      if (absent && !absent.includes(key)) return undefined;
      refuse('`' + name + '.' + nativeString(key) + '`');
    },
    set() { refuse('changing `' + name + '`'); },
    has() { refuse('looking for a property of `' + name + '`'); },
    ownKeys() { refuse('listing `' + name + '`'); },
    deleteProperty() { refuse('changing `' + name + '`'); },
  });
  const setting = (value) => {
    if (typeof value === 'function') refuse('a function as a value');
    return value === null ? null : nativeString(value);
  };

  // Java finds no method for any other number of arguments.
  const exact = (count, work) => (...given) => (given.length === count ? work(...given) : refuse('this number of arguments'));
  const vars = object('vars', {
    get: exact(1, (name) => java(host.get(word(name)))),
    put: exact(2, (name, value) => { host.put(word(name), setting(value)); }),
    remove: exact(1, (name) => java(host.remove(word(name)))),
  }, ['getObject', 'putObject', 'putAll', 'getThreadName', 'threadName', 'getIteration', 'iteration', 'incIteration', 'class',
    'getClass', 'entrySet', 'iterator', 'toString', 'hashCode', 'equals', 'isSameUserOnNextIteration', 'empty']);
  const property = (name, value) => {
    const known = host.property(word(name));
    return java(known === null && value !== undefined ? setting(value) : known);
  };
  const setProperty = exact(2, (name, value) => {
    const old = host.property(word(name));
    if (typeof plain(value) !== 'string') refuse('a property that is no text');
    host.setProperty(word(name), plain(value));
    return java(old);
  });
  const props = object('props', { get: exact(1, (name) => property(name)), getProperty: property, put: setProperty, setProperty });
  const level = (number) => exact(1, (message) => { host.log(number, nativeString(primitive(message, '`log`'))); });
  const log = object('log', { trace: level(0), debug: level(1), info: level(2), warn: level(3), error: level(4) });

  const facts = ['SampleLabel', 'ResponseCode', 'ResponseMessage', 'ResponseDataAsString', 'ResponseHeaders', 'UrlAsString',
    'ThreadName', 'Time', 'Latency', 'ConnectTime', 'StartTime', 'EndTime', 'BytesAsLong'];
  const members = {};
  facts.forEach((name, index) => {
    const read = () => { const value = host.fact(index); return typeof value === 'string' ? java(value) : value; };
    members['get' + name] = read;
    members[name[0].toLowerCase() + name.slice(1)] = { getter: read };
  });
  members.isSuccessful = () => host.fact(facts.length);
  members.successful = { getter: members.isSuccessful };
  const sampleResult = object('sampleResult', members);
  const ctx = object('ctx', {
    getThreadNum: () => host.threadNumber(),
    threadNum: { getter: () => host.threadNumber() },
    getVariables: () => vars,
    variables: { getter: () => vars },
  });

  // The clock and the random numbers are the virtual user's; texts of dates differ from engine to engine.
  function UserDate(...parts) {
    if (!new.target) refuse('the text of a date');
    if (parts.length === 0) return new NativeDate(host.now());
    if (parts.length === 1 && typeof plain(parts[0]) === 'string') refuse('reading a date from a text');
    return new NativeDate(...parts.map(plain));
  }
  UserDate.prototype = NativeDate.prototype;
  UserDate.now = () => host.now();
  UserDate.UTC = NativeDate.UTC;
  UserDate.parse = () => refuse('reading a date from a text');
  for (const name of ['toString', 'toDateString', 'toTimeString', 'toLocaleString', 'toLocaleDateString',
    'toLocaleTimeString', 'toUTCString', 'toGMTString']) {
    Object.defineProperty(NativeDate.prototype, name, { value: () => refuse('the text of a date') });
  }
  Object.defineProperty(NativeDate.prototype, 'constructor', { value: UserDate });
  Math.random = () => host.random();
  // A leading zero still means an octal number to Rhino.
  const readInt = (value, radix) => {
    const found = /^\s*([+-]?)0([0-9].*)$/.exec(nativeString(value));
    if (radix !== undefined || !found) return nativeParseInt(value, radix);
    return (found[1] === '-' ? -1 : 1) * nativeParseInt(found[2], 8);
  };
  const define = (name, value) => Object.defineProperty(globalThis, name, { value, writable: false, configurable: false });
  define('Date', UserDate);
  define('parseInt', readInt);
  for (const name of ['eval', 'Object', 'Function', 'Array', 'String', 'Number', 'Boolean', 'RegExp', 'Error', 'Math',
    'JSON', 'TypeError', 'RangeError', 'SyntaxError', 'ReferenceError', 'EvalError', 'URIError', 'parseFloat', 'isNaN', 'isFinite',
    'encodeURIComponent', 'decodeURIComponent', 'encodeURI', 'decodeURI', 'escape', 'unescape']) {
    define(name, globalThis[name]);
    if (typeof globalThis[name] !== 'function' || name !== 'Function') Object.freeze(globalThis[name]);
  }
  const known = new Set(Object.getOwnPropertyNames(globalThis));
  const evaluate = eval;

  return {
    // Inside of a function, so that names are declared nowhere else.
    probe: evaluate('(function (source) { eval(source); })'),
    // Wraps a script into a function: an expression as such, statements by way of `eval`, whose value is theirs.
    make(source, isExpression, bound) {
      const parameters = bound ? 'vars, props, log, ctx, threadName, sampleResult' : '';
      const body = isExpression ? 'return (' + source + '\n);' : 'return eval(' + JSON.stringify(source) + ');';
      return evaluate('(function (' + parameters + ') { ' + body + ' })');
    },
    run(script, bound, threadName, hasSample) {
      interned = Object.create(null);
      try {
        const value = bound ? script(vars, props, log, ctx, threadName, hasSample ? sampleResult : null) : script();
        if (typeof value === 'function') refuse('a function as the result');
        if (value === vars || value === props || value === log || value === ctx || value === sampleResult) {
          refuse('this object as the result');
        }
        return nativeString(value);
      } finally {
        // Names that the script made are not there for the next one.
        for (const name of Object.getOwnPropertyNames(globalThis)) if (!known.has(name)) delete globalThis[name];
      }
    },
  };
})
