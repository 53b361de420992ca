# older.sh: the operator of an earlier commit, beside this one on the same rack. Source it after rack.sh, with $commit set. Its
# programs are built in build/older, once.
older=build/older/$commit

build_older() {
  mkdir -p "$older" && git archive "$commit" | tar -x -C "$older" &&
    cmake -S "$older" -B "$older/build/release" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_FLAGS_RELEASE='-O2 -DNDEBUG' \
      -DCMAKE_UNITY_BUILD=ON -DCMAKE_UNITY_BUILD_BATCH_SIZE=20 &&
    cmake --build "$older/build/release" --target compute-domain-controller compute-domain-agent compute-domain-imex &&
    (cd "$older" && tools/image --build build/release --output build/images --tag older)
}
load_older_images() {
  local image
  for image in "$older"/build/images/*.tar; do cluster load-image "$image" || return 1; done
}

# install MANIFESTS CONTROLLER AGENT: the manifests of the `newer` or the `older` one, with programs of either.
newer_tag=$(sed -n 's/.*newTag: //p' manifests/default/kustomization.yaml | head -1 | tr -d '"')
tag_of() { if [ "$1" = older ]; then echo older; else echo "$newer_tag"; fi; }
install() {
  local of=../../manifests/test
  [ "$1" = newer ] || of=../../$older/manifests/test
  local here=build/rack-older-$$ # two scripts may run at once
  mkdir -p "$here" &&
    cat >"$here/kustomization.yaml" <<YAML &&
resources: [$of]
images:
$(for registry in registry.invalid local; do # local: before 0.1.0
    echo "- {name: $registry/compute-domain-controller, newTag: $(tag_of "$2")}"
    echo "- {name: $registry/compute-domain-agent, newTag: $(tag_of "$3")}"
    echo "- {name: $registry/compute-domain-imex, newTag: $(tag_of "$1")}"
  done)
YAML
    kubectl apply --server-side -k "$here" && rm -rf "$here"
}
