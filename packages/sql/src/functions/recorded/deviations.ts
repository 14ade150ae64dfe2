/** Where we do not answer as Hive did, by case and statement, with the reason. The list may only shrink. */
export const deviations: Readonly<Record<string, Readonly<Record<string, string>>>> = {};
