// The engine counts the steps of byte code and of regular expressions, but its native functions run to their end without checking
// the budget. Therefore each native function whose time depends on a length is wrapped here: the wrapper first subtracts the steps
// for the work. Scripts cannot observe the wrappers, which have the name, the length and the text of their functions.
(function (host) {
  'use strict';
  const apply = Reflect.apply, isArray = Array.isArray, hasOwn = Object.hasOwn, define = Object.defineProperty;
  const { floor, log2, min, trunc } = Math;
  const names = Object.getOwnPropertyNames, native = new WeakMap(), OutOfMemory = InternalError;
  // Units of text, and items of an array, that a native function processes in the time of a step.
  const UNITS = 64, ITEMS = 8, COMPARED_ITEMS = 32;
  // A search for a string takes the product of both lengths in the worst case. Beyond these limits, another algorithm is used.
  const SOUGHT_MAX = 32, PRODUCT_MAX = 1 << 24;
  // Longer arrays must contain most of their items, because the time depends on the length, but the memory only on the items.
  const SPARSE_MAX = 1e6;

  let owed = 0;
  const owe = (steps) => {
    owed += steps;
    if (owed >= 1024) {
      const all = owed;
      owed = 0;
      host.spend(all);
    }
  };
  const stop = () => host.spend(Infinity);
  const count = (value) => (typeof value === 'number' && value > 0 ? min(value, Number.MAX_SAFE_INTEGER) : 0);
  const size = (value) => (typeof value === 'string' || isArray(value) ? value.length : 0);
  const sizes = (values) => {
    let all = 0;
    for (let at = 0; at < values.length; at++) all += size(values[at]);
    return all;
  };

  const wrap = (of, name, work) => {
    const own = of[name];
    if (typeof own !== 'function') return;
    const wrapper = {
      [name](...given) {
        try {
          return work(own, this, given);
        } catch (error) {
          // A script could catch this error in an endless loop.
          if (error instanceof OutOfMemory && error.message === 'out of memory') stop();
          throw error;
        }
      },
    }[name];
    define(wrapper, 'length', { value: own.length, writable: false, enumerable: false, configurable: true });
    native.set(wrapper, own);
    define(of, name, { value: wrapper });
  };
  // Subtracts `cost(self, given)` steps before the work.
  const charge = (of, list, cost) => {
    for (const name of list) {
      wrap(of, name, (own, self, given) => {
        owe(cost(self, given));
        return apply(own, self, given);
      });
    }
  };
  // Subtracts steps for the length of the result.
  const chargeResult = (of, list, unit) => {
    for (const name of list) {
      wrap(of, name, (own, self, given) => {
        const result = apply(own, self, given);
        owe(1 + size(result) / unit);
        return result;
      });
    }
  };

  wrap(Function.prototype, 'toString', (own, self, given) => apply(own, native.get(self) || self, given));

  // Strings.
  const texts = String.prototype;
  const product = (self, sought) => (size(self) * (1 + min(size(sought), size(self)))) / UNITS;
  const isHard = (self, sought) => typeof self === 'string' && typeof sought === 'string' && sought.length > SOUGHT_MAX &&
    self.length * sought.length > PRODUCT_MAX;
  const searching = (name, hard) => wrap(texts, name, (own, self, given) => {
    if (isHard(self, given[0])) {
      owe((self.length + given[0].length) / 16);
      return hard(own, self, given);
    }
    owe(product(self, given[0]));
    return apply(own, self, given);
  });
  const place = (value) => { const number = trunc(+value); return number > 0 ? number : 0; };
  searching('indexOf', (own, self, [sought, from]) => host.find(self, sought, place(from), false));
  searching('includes', (own, self, [sought, from]) => host.find(self, sought, place(from), false) >= 0);
  searching('lastIndexOf', (own, self, [sought, from]) => {
    const last = +from;
    return host.find(self, sought, last === last ? place(last) : self.length, true);
  });
  searching('split', (own, self, [separator, limit]) => {
    const most = limit === undefined ? 4294967295 : limit >>> 0, parts = [];
    let from = 0;
    if (most === 0) return parts;
    for (const at of host.places(self, separator)) {
      parts.push(self.substring(from, at));
      if (parts.length === most) return parts;
      from = at + separator.length;
    }
    parts.push(self.substring(from));
    return parts;
  });
  searching('replace', (own, self, [sought, by]) => {
    const text = typeof by === 'function' ? '' : `${by}`;
    if (text.includes('$')) {
      owe(product(self, sought));
      return apply(own, self, [sought, text]);
    }
    const at = host.find(self, sought, 0, false);
    if (at < 0) return self;
    const replacement = typeof by === 'function' ? `${by(sought, at, self)}` : text;
    return self.substring(0, at) + replacement + self.substring(at + sought.length);
  });
  searching('replaceAll', (own, self, given) => {
    owe(product(self, given[0]));
    return apply(own, self, given);
  });
  charge(texts, ['repeat'], (self, [times]) => (size(self) * count(times)) / UNITS);
  charge(texts, ['padStart', 'padEnd'], (self, [length]) => count(length) / UNITS);
  chargeResult(texts, ['substring', 'substr', 'slice'], UNITS);
  const cheap = new Set(['constructor', 'toString', 'valueOf', 'charAt', 'charCodeAt', 'codePointAt', 'at', 'indexOf', 'includes',
    'lastIndexOf', 'split', 'replace', 'replaceAll', 'repeat', 'padStart', 'padEnd', 'substring', 'substr', 'slice']);
  charge(texts, names(texts).filter((name) => !cheap.has(name)), (self, given) => (size(self) + sizes(given)) / UNITS);
  charge(globalThis, ['encodeURIComponent', 'decodeURIComponent', 'encodeURI', 'decodeURI', 'escape', 'unescape', 'parseFloat',
    'parseInt'], (self, given) => size(given[0]) / ITEMS);

  // Arrays.
  const isDense = (value, length) => {
    for (let at = 0; at < 64; at++) if (!hasOwn(value, floor(((length - 1) * at) / 63))) return false;
    return true;
  };
  const items = (value) => {
    if (value === null || value === undefined) return 0;
    const length = count(value.length);
    if (length > SPARSE_MAX && typeof value !== 'string' && !isDense(value, length)) stop();
    return length;
  };
  const arrays = Array.prototype;
  const quick = new Set(['constructor', 'push', 'pop', 'at', 'keys', 'entries', 'values', 'toString']);
  const compared = ['indexOf', 'lastIndexOf', 'includes', 'shift', 'unshift', 'splice', 'find', 'findIndex', 'some', 'every'];
  const others = ['sort', 'toSorted', 'concat', 'slice'];
  charge(arrays, compared, (self) => items(self) / COMPARED_ITEMS);
  charge(arrays, ['sort', 'toSorted'], (self) => { const length = items(self); return length * log2(length + 2); });
  charge(arrays, ['concat'], (self, given) => {
    let all = items(self);
    for (let at = 0; at < given.length; at++) if (isArray(given[at])) all += items(given[at]);
    return all / ITEMS;
  });
  wrap(arrays, 'slice', (own, self, given) => {
    items(self);
    const result = apply(own, self, given);
    owe(1 + size(result) / ITEMS);
    return result;
  });
  charge(arrays, names(arrays).filter((name) => !quick.has(name) && !compared.includes(name) && !others.includes(name)),
    (self) => items(self) / ITEMS);
  charge(Array, ['from'], (self, [of]) => (of !== null && typeof of === 'object' ? items(of) : size(of)) / ITEMS);

  // Objects and JSON.
  chargeResult(Object, ['keys', 'values', 'entries', 'getOwnPropertyNames'], ITEMS);
  charge(Object, ['freeze', 'isFrozen', 'seal', 'isSealed', 'preventExtensions', 'assign', 'fromEntries'],
    (self, given) => sizes(given) / ITEMS);
  charge(JSON, ['parse'], (self, [text]) => size(text) / ITEMS);
  // The engine writes `null` for each missing item of an array, and does not stop when the memory is exhausted.
  const { keys } = Object, Seen = WeakSet;
  const checkItems = (value, seen) => {
    if (typeof value !== 'object' || value === null || seen.has(value)) return;
    seen.add(value);
    if (isArray(value)) {
      const length = items(value);
      for (let at = 0; at < length; at++) checkItems(value[at], seen);
    } else {
      for (const key of keys(value)) checkItems(value[key], seen);
    }
  };
  wrap(JSON, 'stringify', (own, self, given) => {
    if (given.length > 0) checkItems(given[0], new Seen());
    const result = apply(own, self, given);
    owe(1 + size(result) / ITEMS);
    return result;
  });

  // Objects that neither Rhino's nor Nashorn's scripts use here, and whose operators may take arbitrarily long.
  for (const name of ['BigInt', 'BigInt64Array', 'BigUint64Array', 'ArrayBuffer', 'SharedArrayBuffer', 'DataView', 'Atomics',
    'Int8Array', 'Uint8Array', 'Uint8ClampedArray', 'Int16Array', 'Uint16Array', 'Int32Array', 'Uint32Array', 'Float16Array',
    'Float32Array', 'Float64Array']) {
    delete globalThis[name];
  }
})
