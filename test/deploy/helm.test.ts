/**
 * The shipped Helm chart, rendered by the template engine of Helm (test/deploy/helm-render) and checked with
 * the schemas of Kubernetes. Helm itself is not run. Needs Go and the Go package sprig.
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Deployment } from "kubernetes-models/apps/v1";
import { HorizontalPodAutoscaler } from "kubernetes-models/autoscaling/v2";
import { Job } from "kubernetes-models/batch/v1";
import { Ingress } from "kubernetes-models/networking.k8s.io/v1";
import { PodDisruptionBudget } from "kubernetes-models/policy/v1";
import { Service } from "kubernetes-models/v1";
import { parse, parseAllDocuments } from "yaml";
import { describe, expect, it } from "vitest";
import { settingNames } from "#app/settings.ts";
import { isInstalled } from "#test/support/program.ts";

const root = new URL("../../", import.meta.url).pathname;
/** The folder of Debian's Go packages. */
const goPath = "/usr/share/gocode";
const canRender =
  isInstalled("go", "version") && existsSync(join(goPath, "src/github.com/Masterminds/sprig"));
if (!canRender)
  process.stderr.write(
    "test/deploy/helm.test.ts is skipped: Go or sprig is not installed (Debian: golang-go, " +
      "golang-github-masterminds-sprig-dev).\n",
  );

const read = (path: string): string => readFileSync(join(root, path), "utf8");
const chart = parse(read("deploy/helm/Chart.yaml")) as { version: string; appVersion: string };

// eslint-disable-next-line typescript/no-explicit-any -- Tests look into objects of any kind.
type KubernetesObject = any;
type Values = Record<string, KubernetesObject>;

/** Returns the default values of the chart with the required ones filled in. */
function fillValues(change: (values: Values) => void = () => undefined): Values {
  const values = parse(read("deploy/helm/values.yaml")) as Values;
  values["image"].repository = "registry.example/commerce-gateway";
  values["publicUrl"] = "https://api.shop.example";
  values["secret"].name = "shop-secrets";
  values["ingress"] = { ...values["ingress"], enabled: true, host: "api.shop.example", tlsSecret: "tls" };
  change(values);
  return values;
}

function renderText(values: Values): { readonly text: string; readonly error: string } {
  const input = JSON.stringify({
    Values: values,
    Release: { Name: "shop", Namespace: "shops", Service: "Helm" },
    Chart: { Name: "commerce-gateway", Version: chart.version, AppVersion: chart.appVersion },
  });
  const { stdout, stderr } = spawnSync(
    "go",
    ["run", join(root, "test/deploy/helm-render/main.go"), join(root, "deploy/helm/templates")],
    { input, encoding: "utf8", env: { ...process.env, GO111MODULE: "off", GOPATH: goPath } },
  );
  return { text: stdout, error: stderr };
}

function renderObjects(change?: (values: Values) => void): KubernetesObject[] {
  const { text, error } = renderText(fillValues(change));
  expect(error).toBe("");
  const documents = parseAllDocuments(text, { strict: true, uniqueKeys: true, version: "1.1" });
  if (!Array.isArray(documents)) return [];
  expect(documents.flatMap(({ errors, warnings }) => [...errors, ...warnings])).toEqual([]);
  return documents.map((document): KubernetesObject => document.toJS()).filter((object) => object !== null);
}

const kinds = { Deployment, HorizontalPodAutoscaler, Ingress, Job, PodDisruptionBudget, Service };
const podsOf = (objects: readonly KubernetesObject[]): KubernetesObject[] =>
  objects.filter(({ kind }) => kind === "Deployment" || kind === "Job").map(({ spec }) => spec.template);
const environmentOf = (pod: KubernetesObject): Readonly<Record<string, string>> =>
  Object.fromEntries(
    pod.spec.containers[0].env.map(({ name, value }: { name: string; value: string }) => [name, value]),
  );

it("the version of the chart's image is the version of the service", () => {
  const { version } = JSON.parse(read("package.json")) as { version: string };
  expect(chart.appVersion).toBe(version);
});

describe.runIf(canRender)("the Helm chart", () => {
  const objects = canRender ? renderObjects() : [];
  const pods = podsOf(objects);
  const named = (kind: string): KubernetesObject[] => objects.filter((object) => object.kind === kind);

  it("renders objects that the schemas of Kubernetes allow", () => {
    expect(objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`).toSorted()).toEqual([
      "Deployment shop-commerce-gateway-gateway",
      "Deployment shop-commerce-gateway-worker",
      "HorizontalPodAutoscaler shop-commerce-gateway-gateway",
      "Ingress shop-commerce-gateway",
      "Job shop-commerce-gateway-migrate",
      "PodDisruptionBudget shop-commerce-gateway-gateway",
      "PodDisruptionBudget shop-commerce-gateway-worker",
      "Service shop-commerce-gateway",
    ]);
    for (const object of objects) {
      const Model = kinds[object.kind as keyof typeof kinds];
      expect(object.apiVersion).toBe(Model.apiVersion);
      new Model(object).validate();
    }
  });

  it("runs every pod as an unprivileged user with a read-only file system", () => {
    expect(pods).toHaveLength(3);
    for (const { spec } of pods) {
      expect(spec).toMatchObject({
        automountServiceAccountToken: false,
        securityContext: {
          runAsNonRoot: true,
          runAsUser: 10_001,
          seccompProfile: { type: "RuntimeDefault" },
        },
      });
      expect(spec.containers[0].securityContext).toEqual({
        allowPrivilegeEscalation: false,
        readOnlyRootFilesystem: true,
        capabilities: { drop: ["ALL"] },
      });
      expect(spec.containers[0].resources.limits.memory).toBeDefined();
    }
    expect(read("Dockerfile")).toContain("USER 10001:10001");
  });

  it("gives a process 15 seconds more than its drain to stop", () => {
    const drained = renderObjects((values) => (values["drainSeconds"] = 40)).filter(
      ({ kind }) => kind === "Deployment",
    );
    expect(drained.map(({ spec }) => spec.template.spec.terminationGracePeriodSeconds)).toEqual([55, 55]);
    for (const { spec } of drained) expect(environmentOf(spec.template)["DRAIN_SECONDS"]).toBe("40");
  });

  it("sets only settings of the service, and reads each secret from a file of the Secret", () => {
    for (const pod of pods) {
      const [volume] = pod.spec.volumes;
      expect(volume.secret).toEqual({ secretName: "shop-secrets", defaultMode: 0o440 });
      for (const [name, value] of Object.entries(environmentOf(pod))) {
        expect(settingNames).toContain(name.replace(/_FILE$/, ""));
        if (name.endsWith("_FILE"))
          expect(value).toBe(
            `${pod.spec.containers[0].volumeMounts[0].mountPath}/${name.replace("_FILE", "")}`,
          );
      }
    }
    const withSetting = renderObjects((values) => (values["settings"] = { LOG_LEVEL: "warn", PROCESSES: 2 }));
    for (const pod of podsOf(withSetting))
      expect(environmentOf(pod)).toMatchObject({ LOG_LEVEL: "warn", PROCESSES: "2" });
  });

  it("migrates in a Job before an installation or upgrade; only the Job knows the owner's password", () => {
    const withOwner = renderObjects(
      (values) => (values["secret"].migrationSettings = ["DATABASE_OWNER_URL"]),
    );
    const job = withOwner.find(({ kind }) => kind === "Job");
    expect(job.metadata.annotations["helm.sh/hook"]).toBe("pre-install,pre-upgrade");
    expect(job.spec.template.spec.containers[0].args).toEqual(["migrate"]);
    const knows = podsOf(withOwner).map((pod) => [
      pod.spec.containers[0].args[0],
      environmentOf(pod)["MIGRATE"],
      "DATABASE_OWNER_URL_FILE" in environmentOf(pod),
    ]);
    expect(knows).toEqual([
      ["gateway", "0", false],
      ["worker", "0", false],
      ["migrate", "1", true],
    ]);
  });

  it("connects the Ingress, the Service, the budgets and the autoscaler with the right pods", () => {
    const [service] = named("Service");
    const deployments = named("Deployment");
    const selected = (selector: Readonly<Record<string, string>>): unknown[] =>
      pods
        .filter(({ metadata }) =>
          Object.entries(selector).every(([name, value]) => metadata.labels[name] === value),
        )
        .map(({ spec }) => spec.containers[0].name);
    expect(selected(service.spec.selector)).toEqual(["gateway"]);
    expect(deployments.map(({ spec }) => selected(spec.selector.matchLabels))).toEqual([
      ["gateway"],
      ["worker"],
    ]);
    expect(named("PodDisruptionBudget").map(({ spec }) => selected(spec.selector.matchLabels))).toEqual([
      ["gateway"],
      ["worker"],
    ]);
    const [{ spec: scaling }] = named("HorizontalPodAutoscaler");
    expect(scaling.scaleTargetRef.name).toBe(deployments[0].metadata.name);
    expect(deployments.map(({ spec }) => spec.replicas)).toEqual([undefined, 2]);
    const [{ spec: ingress }] = named("Ingress");
    expect(ingress.rules[0].http.paths[0].backend.service).toEqual({
      name: service.metadata.name,
      port: { name: service.spec.ports[0].name },
    });
    for (const { spec } of deployments.map(({ spec: { template } }) => template)) {
      const [{ ports, readinessProbe, livenessProbe, startupProbe }] = spec.containers;
      expect(ports).toEqual([{ name: service.spec.ports[0].targetPort, containerPort: 4000 }]);
      expect([readinessProbe, livenessProbe, startupProbe].map(({ httpGet }) => httpGet.path)).toEqual([
        "/readyz",
        "/healthz",
        "/healthz",
      ]);
    }
  });

  it("can be installed without an Ingress and without autoscaling", () => {
    const small = renderObjects((values) => {
      values["ingress"].enabled = false;
      values["gateway"].autoscaling.enabled = false;
    });
    expect(small.map(({ kind }) => kind)).not.toContain("Ingress");
    expect(small.map(({ kind }) => kind)).not.toContain("HorizontalPodAutoscaler");
    expect(small.find(({ kind }) => kind === "Deployment").spec.replicas).toBe(2);
  });

  it.each([
    ["publicUrl", (values: Values) => (values["publicUrl"] = ""), "publicUrl is required."],
    ["the Secret", (values: Values) => (values["secret"].name = ""), "secret.name must be the name of an"],
    ["the image", (values: Values) => (values["image"].repository = ""), "image.repository is required."],
    ["the host", (values: Values) => (values["ingress"].host = ""), "ingress.host is required"],
  ])("refuses an installation without %s", (_name, change, message) => {
    expect(renderText(fillValues(change)).error).toContain(message);
  });
});
