// A record of what was called of a package. It also runs in a browser, so it imports nothing.

// A package's calls of itself do not count: its file is elsewhere.
const here = new URL('.', import.meta.url).href;

/**
 * `differences`: calls that the service is known to answer otherwise, with a sentence each.
 * `uncalled`: what is not called of the package, by the reason.
 */
export class Calls {
  constructor({ differences = {}, uncalled = {} } = {}) {
    Object.assign(this, { count: 0, failures: [], differing: new Set(), differences, reasons: uncalled });
    this.surface = new Set();
    this.called = new Set();
    this.patched = new WeakSet();
  }

  fail(what, error) {
    const place = error?.stack?.split('\n').find(line => line.includes(here) && !line.includes('calls.mjs'));
    this.failures.push([`${what}: ${error?.code ?? ''} ${error?.message ?? error}`, place].filter(Boolean).join('\n'));
  }

  /** Calls, and checks the result; without a check, it must be true. */
  async call(what, make, check = result => { if (!result) throw new Error(`is ${result}`); }) {
    this.count += 1;
    let result;
    try {
      result = await make();
      await check(result);
    } catch (error) {
      if (what in this.differences) this.differing.add(what);
      else this.fail(what, error);
      return result;
    }
    if (what in this.differences) this.fail(what, 'is as expected: take it out of the known differences');
    return result;
  }

  /** Calls what must be refused with a code, of which a pattern will do. */
  refused(what, code, make) {
    return this.call(what, () => Promise.resolve().then(make).then(
      result => { throw new Error(`not refused: ${JSON.stringify(result)}`); }, error => error), error => {
      const found = error.error ?? error.cause?.[0]?.parameters.error ?? error.code ?? error.message;
      if (!(code instanceof RegExp ? code.test(found) : found === code)) throw error;
    });
  }

  /**
   * The exports of a package, whose use is recorded: reading a value or class, calling a function or method.
   * `values` matches classes that are plain values in the package's types.
   */
  exports(exports, values = /^$/) {
    const found = {};
    const classes = [];
    for (const [name, value] of Object.entries(exports)) {
      this.surface.add(name);
      const isClass = /^class\b/.test(typeof value === 'function' && Function.prototype.toString.call(value));
      if (isClass && !values.test(name)) classes.push([name, value]);
      if (typeof value === 'function' && !isClass) found[name] = (...values) => this.#use(name, value)(...values);
      else Object.defineProperty(found, name, { get: () => this.#use(name, value), enumerable: true });
    }
    for (const [name, value] of classes) {
      this.#patch(value, `${name}.`);
      this.#patch(value.prototype, `${name}#`);
    }
    // What they inherit from classes that are not exported.
    for (const [name, value] of classes) this.watch(name, value.prototype);
    return found;
  }

  /** Records the methods of an object whose class the package does not export; returns the object. */
  watch(name, object) {
    const isBuiltIn = place => [Object, Error, Function, Array].some(kind => kind.prototype === place);
    for (let place = object; place && !isBuiltIn(place); place = Object.getPrototypeOf(place)) {
      this.#patch(place, `${name}#`);
    }
    return object;
  }

  #use(name, value) {
    this.called.add(name);
    return value;
  }

  #patch(place, prefix) {
    if (this.patched.has(place)) return;
    this.patched.add(place);
    for (const [name, { value, get, configurable }] of Object.entries(Object.getOwnPropertyDescriptors(place))) {
      const original = value ?? get;
      if (name === 'constructor' || name.startsWith('_') || typeof original !== 'function' || !configurable) continue;
      const full = prefix + name;
      this.surface.add(full);
      const { called } = this;
      const recorded = function (...values) {
        // Firefox's has no first line with the message.
        const frames = new Error().stack.split('\n').filter(line => /:\d+:\d+/.test(line));
        if (frames[1]?.includes(here)) called.add(full);
        return original.apply(this, values);
      };
      const kind = value ? { value: recorded, writable: true } : { get: recorded };
      Object.defineProperty(place, name, { configurable, ...kind });
    }
  }

  /** Everything is called or has its reason, and no table names what is not there. */
  finish() {
    const excused = new Set(Object.values(this.reasons).flat());
    for (const name of this.surface) {
      if (!this.called.has(name) && !excused.has(name)) this.fail(name, 'is never called, and no reason says why');
    }
    for (const name of excused) {
      if (!this.surface.has(name)) this.fail(name, 'is named as not called, and does not exist');
      else if (this.called.has(name)) this.fail(name, 'is named as not called, and is called');
    }
    for (const what of Object.keys(this.differences)) {
      if (!this.differing.has(what)) this.fail(what, 'is named as a difference, and was not met');
    }
  }
}
