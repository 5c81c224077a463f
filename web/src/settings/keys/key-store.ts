// The keys of the account, as the section shows them. The server tells a key once, when it is made.
import { signal } from '@preact/signals';
import type { ApiKey, ConnectionInfo, IssuedApiKey, MansioClient } from '../../../../src/client/index.js';
import { type Purpose, SCOPES_FOR } from './purposes.js';

const PATH = '/api/smtp-credentials';

export class KeyStore {
  readonly keys = signal<readonly ApiKey[] | undefined>(undefined);
  readonly info = signal<ConnectionInfo | undefined>(undefined);
  /** The key that was made or replaced last, until it is put away. */
  readonly issued = signal<IssuedApiKey | undefined>(undefined);
  readonly #client: MansioClient;

  constructor(client: MansioClient) {
    this.#client = client;
  }

  async read(): Promise<void> {
    const { keys, connectionInfo } = await this.#client.request('GET', PATH);
    this.keys.value = keys;
    this.info.value = connectionInfo;
  }

  async make(name: string, purpose: Exclude<Purpose, 'apple'>): Promise<void> {
    this.#show(await this.#client.request('POST', PATH, { body: { name, scopes: SCOPES_FOR[purpose] } }));
  }

  /** Returns a profile for Apple Mail, with a key of its own. */
  async makeProfile(name: string): Promise<Blob> {
    const profile = await this.#client.request('POST', `${PATH}/mobileconfig`, { body: { name } });
    await this.read();
    return profile;
  }

  async replace({ id }: ApiKey): Promise<void> {
    const key = await this.#client.request('POST', `${PATH}/{keyId}/rotate`, { params: { keyId: id } });
    this.#remove(id);
    this.#show(key);
  }

  async revoke({ id }: ApiKey): Promise<void> {
    await this.#client.request('DELETE', `${PATH}/{keyId}`, { params: { keyId: id } });
    this.#remove(id);
    if (this.issued.peek()?.id === id) this.issued.value = undefined;
  }

  #show(key: IssuedApiKey): void {
    this.issued.value = key;
    this.keys.value = [key, ...(this.keys.peek() ?? [])];
  }

  #remove(id: string): void {
    this.keys.value = this.keys.peek()?.filter((key) => key.id !== id);
  }
}
