{{- define "commerce.name" -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* The labels by which Services and Deployments select pods. Takes the chart's root and the component. */}}
{{- define "commerce.selector" -}}
{{- dict "app.kubernetes.io/name" .root.Chart.Name "app.kubernetes.io/instance" .root.Release.Name "app.kubernetes.io/component" .component | toJson -}}
{{- end -}}

{{- define "commerce.labels" -}}
{{- $labels := include "commerce.selector" . | fromJson -}}
{{- $more := dict "app.kubernetes.io/version" .root.Chart.AppVersion "app.kubernetes.io/managed-by" .root.Release.Service -}}
{{- merge $labels $more | toJson -}}
{{- end -}}

{{/* The specification of a pod, for one of the commands gateway, worker and migrate. */}}
{{- define "commerce.pod" -}}
{{- $values := .root.Values -}}
{{- $isMigration := eq .component "migrate" -}}
{{- $secretName := required "secret.name must be the name of an existing Secret." $values.secret.name -}}
automountServiceAccountToken: false
{{- if $isMigration }}
restartPolicy: Never
{{- else }}
# A process serves on for drainSeconds after SIGTERM, and then stops within 10 seconds.
terminationGracePeriodSeconds: {{ add $values.drainSeconds 15 }}
topologySpreadConstraints:
  - maxSkew: 1
    topologyKey: kubernetes.io/hostname
    whenUnsatisfiable: ScheduleAnyway
    labelSelector:
      matchLabels: {{ include "commerce.selector" . }}
{{- end }}
{{- with $values.image.pullSecrets }}
imagePullSecrets:
  {{- range . }}
  - name: {{ quote . }}
  {{- end }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: 10001
  runAsGroup: 10001
  # Makes the files of the Secret readable for the user.
  fsGroup: 10001
  seccompProfile: { type: RuntimeDefault }
volumes:
  - name: secret
    secret:
      secretName: {{ quote $secretName }}
      # 288 is 0440: readable for the group.
      defaultMode: 288
containers:
  - name: {{ .component }}
    image: {{ printf "%s:%s" (required "image.repository is required." $values.image.repository) (default .root.Chart.AppVersion $values.image.tag) | quote }}
    imagePullPolicy: {{ $values.image.pullPolicy }}
    args: [{{ .component }}]
    env:
      - name: PUBLIC_URL
        value: {{ required "publicUrl is required." $values.publicUrl | quote }}
      - name: TRUST_PROXY
        value: {{ quote $values.trustProxy }}
      - name: DRAIN_SECONDS
        value: {{ quote $values.drainSeconds }}
      # The Job of the chart migrates the database before the pods start.
      - name: MIGRATE
        value: {{ ternary "1" "0" $isMigration | quote }}
      {{- range $name, $value := $values.settings }}
      - name: {{ $name }}
        value: {{ quote $value }}
      {{- end }}
      {{- range ternary (concat $values.secret.settings $values.secret.migrationSettings) $values.secret.settings $isMigration }}
      - name: {{ . }}_FILE
        value: /run/secrets/commerce-gateway/{{ . }}
      {{- end }}
    volumeMounts:
      - name: secret
        mountPath: /run/secrets/commerce-gateway
        readOnly: true
    {{- if not $isMigration }}
    ports:
      - name: http
        containerPort: 4000
    # Gives a cold start one minute.
    startupProbe:
      httpGet: { path: /healthz, port: http }
      periodSeconds: 2
      failureThreshold: 30
    livenessProbe:
      httpGet: { path: /healthz, port: http }
      periodSeconds: 10
      timeoutSeconds: 3
      failureThreshold: 3
    # Removes a pod from the Service within drainSeconds.
    readinessProbe:
      httpGet: { path: /readyz, port: http }
      periodSeconds: 2
      timeoutSeconds: 2
      failureThreshold: 2
    {{- end }}
    resources: {{ (index $values (ternary "worker" .component $isMigration)).resources | toJson }}
    securityContext:
      allowPrivilegeEscalation: false
      readOnlyRootFilesystem: true
      capabilities: { drop: [ALL] }
{{- end -}}
