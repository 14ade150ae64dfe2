/**
 * Names of tables and databases (MetaStoreUtils.validateName with hive.support.special.characters.tablename, Hive's default):
 * letters and digits of ASCII, and most of its other characters, but no dot, backslash or backtick.
 */
export const isValidName = (name: string): boolean => /^[\w !"#$%&'()*+,\-/:;<=>?@[\]^{|}~]+$/.test(name);
