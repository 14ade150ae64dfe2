import { BugError } from '@skep/core';
import mysql from 'mysql2';

/** Creates an empty database on a server; its address. */
export async function newDatabase(server: string, name: string): Promise<string> {
  const { hostname, port, username, password } = new URL(server);
  const connection = mysql.createConnection({ host: hostname, port: Number(port), user: username, password });
  try {
    await new Promise<void>((resolve, reject) => {
      connection.query(`CREATE DATABASE ${name} CHARACTER SET utf8mb4`, (error: unknown) =>
        error === null ? resolve() : reject(new BugError(`cannot create ${name}`, { cause: error })),
      );
    });
  } finally {
    connection.destroy();
  }
  return `${server}/${name}`;
}
