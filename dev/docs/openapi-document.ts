// The OpenAPI and AsyncAPI documents and the route table without a server: the routes have no implementation and are only read.
import { asyncApi } from '../../src/gateways/http/openapi/async-api.js';
import { openApi } from '../../src/gateways/http/openapi/openapi.js';
import type { Route } from '../../src/gateways/http/route.js';
import { type RouteSources, routeTable } from '../../src/gateways/http/route-table.js';

export function bareRoutes(): readonly Route[] {
  const sources = {
    accountApi: {},
    push: {},
    webhooks: {},
    images: {},
    composing: {},
    config: { oidc: {} },
    checks: [],
  } as unknown as RouteSources;
  return routeTable(sources);
}

export const bareDocument = () => openApi(bareRoutes(), '0.0.0', '/');

export const bareEventDocument = () => asyncApi(bareDocument(), '0.0.0', '/');
