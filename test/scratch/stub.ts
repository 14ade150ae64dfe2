export const findFunction = () => undefined;
export const functionNames = () => [];
