/** An object with some methods replaced. */
export function override<T extends object>(target: T, methods: Partial<T>): T {
  return new Proxy(target, {
    get(object, key) {
      const replaced = Reflect.get(methods, key);
      const value = replaced ?? Reflect.get(object, key);
      return typeof value === 'function' && replaced === undefined ? value.bind(object) : value;
    },
  });
}
