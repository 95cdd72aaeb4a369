// Speaks Spark Connect: settings, a view, queries, and their cancellation.
#include "session.hpp"

#include <connect.grpc.pb.h>
#include <grpcpp/grpcpp.h>

#include <chrono>
#include <cstdint>
#include <random>

namespace sotto::spark {
namespace {

namespace connect = ::spark::connect;

constexpr auto connect_timeout = std::chrono::seconds(60);
constexpr auto end_timeout = std::chrono::seconds(2);
// Deliberately without the server's reason, which may contain data.
constexpr const char* failure = "Spark failed on a statement that sotto wrote";

// Returns a random UUID. It only has to be unique among the user's sessions; nobody needs to keep
// it secret.
std::string new_uuid() {
  std::random_device device;
  constexpr const char* digits = "0123456789abcdef";
  std::string id;
  for (int i = 0; i < 32; ++i) {
    if (i == 8 || i == 12 || i == 16 || i == 20) id += '-';
    id += i == 12 ? '4' : i == 16 ? '8' : digits[device() % 16];
  }
  return id;
}

std::shared_ptr<grpc::Channel> channel_to(const Json& opening) {
  grpc::ChannelArguments arguments;
  arguments.SetMaxReceiveMessageSize(-1);
  arguments.SetUserAgentPrefix("sotto");
  const bool tls = opening["tls"];
  if (!tls)
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);  // without TLS the server is on this machine
  if (tls) {
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, 30'000);
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
  }
  grpc::SslCredentialsOptions options;
  options.pem_root_certs = opening["authority"].text();
  return grpc::CreateCustomChannel(
      opening["target"].text(),
      tls ? grpc::SslCredentials(options) : grpc::InsecureChannelCredentials(), arguments);
}

// Throws the Failure for a status. `otherwise` is its message unless the status has a known cause.
[[noreturn]] void fail(const grpc::Status& status, const char* otherwise) {
  switch (status.error_code()) {
    case grpc::StatusCode::UNAVAILABLE:
    case grpc::StatusCode::DEADLINE_EXCEEDED:
      throw Failure(
          "Spark cannot be reached: is Spark Connect running where the data file says, and is its "
          "port right?",
          status.error_message());
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::PERMISSION_DENIED:
      throw Failure("Spark does not let this user in: check the token and the user's rights",
                    status.error_message());
    case grpc::StatusCode::UNIMPLEMENTED:
      throw Failure("the server does not speak Spark Connect: is its port right?",
                    status.error_message());
    default: throw Failure(otherwise, status.error_message());
  }
}

// Returns the share of done tasks among those of all stages so far.
double share_of(const connect::ExecutePlanResponse::ExecutionProgress& progress) {
  double done = 0;
  double all = 0;
  for (const auto& stage : progress.stages()) {
    done += static_cast<double>(stage.num_completed_tasks());
    all += static_cast<double>(stage.num_tasks());
  }
  return all > 0 ? done / all : 0;
}

}  // namespace

struct Session::State {
  explicit State(const Json& opening_)
      : opening(opening_), stub(connect::SparkConnectService::NewStub(channel_to(opening))) {}

  // Adds the token and the headers.
  void prepare(grpc::ClientContext& context) const {
    if (const std::string& token = opening["token"].text(); !token.empty())
      context.AddMetadata("authorization", "Bearer " + token);
    for (std::size_t i = 0; i < opening["headers"].size(); ++i) {
      context.AddMetadata(opening["headers"][i]["name"].text(),
                          opening["headers"][i]["value"].text());
    }
  }

  // Sets the session and the user.
  template <typename Request>
  void identify(Request& request) const {
    request.set_session_id(id);
    request.mutable_user_context()->set_user_id(opening["user"].text());
    request.mutable_user_context()->set_user_name(opening["user"].text());
    request.set_client_type("sotto");
  }

  // Sends the settings under which sotto's statements mean what they say.
  void send_settings() const {
    connect::ConfigRequest request;
    identify(request);
    const Json& settings = opening["settings"];
    for (std::size_t i = 0; i < settings.size(); ++i) {
      auto* pair = request.mutable_operation()->mutable_set()->add_pairs();
      pair->set_key(settings[i]["name"].text());
      pair->set_value(settings[i]["value"].text());
    }
    grpc::ClientContext context;
    prepare(context);
    context.set_deadline(std::chrono::system_clock::now() + connect_timeout);
    connect::ConfigResponse response;
    if (const auto status = stub->Config(&context, request, &response); !status.ok())
      fail(status, "Spark refuses sotto's settings");
  }

  // Executes a plan, and passes its rows and progress on. Throws Failure.
  void execute(const connect::Plan& plan, const Listener& listener, const char* otherwise) {
    connect::ExecutePlanRequest request;
    identify(request);
    const std::string operation = new_uuid();
    request.set_operation_id(operation);
    *request.mutable_plan() = plan;
    grpc::ClientContext context;
    prepare(context);
    {
      const std::lock_guard lock(mutex);
      running = &context;
      operation_id = operation;
    }
    const auto reader = stub->ExecutePlan(&context, request);
    connect::ExecutePlanResponse response;
    while (reader->Read(&response)) {
      if (response.has_arrow_batch() && listener.rows) listener.rows(response.arrow_batch().data());
      if (response.has_execution_progress() && listener.progress)
        listener.progress(share_of(response.execution_progress()));
    }
    const auto status = reader->Finish();
    {
      const std::lock_guard lock(mutex);
      running = nullptr;
    }
    if (!status.ok()) fail(status, otherwise);
  }

  const Json opening;
  const std::string id = new_uuid();
  const std::unique_ptr<connect::SparkConnectService::Stub> stub;
  std::mutex mutex;
  grpc::ClientContext* running = nullptr;
  std::string operation_id;
};

Session::Session(const Json& opening) : state_(std::make_unique<State>(opening)) {
  state_->send_settings();
  connect::Plan plan;
  auto* view = plan.mutable_command()->mutable_create_dataframe_view();
  view->set_name(opening["view"].text());
  view->set_replace(true);
  view->mutable_input()->mutable_sql()->set_query(opening["relation"].text());
  state_->execute(plan, {}, "Spark finds no such table");
}

Session::~Session() {
  connect::ReleaseSessionRequest request;
  state_->identify(request);
  grpc::ClientContext context;
  state_->prepare(context);
  context.set_deadline(std::chrono::system_clock::now() + end_timeout);
  connect::ReleaseSessionResponse response;
  (void)state_->stub->ReleaseSession(
      &context, request,
      &response);  // on failure, the server drops the session after its own timeout
}

void Session::run(const std::string& sql, const Listener& listener) {
  connect::Plan plan;
  plan.mutable_root()->mutable_sql()->set_query(sql);
  state_->execute(plan, listener, failure);
}

void Session::stop() {
  connect::InterruptRequest request;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->running == nullptr) return;
    request.set_operation_id(state_->operation_id);
  }
  state_->identify(request);
  request.set_interrupt_type(connect::InterruptRequest::INTERRUPT_TYPE_OPERATION_ID);
  grpc::ClientContext context;
  state_->prepare(context);
  context.set_deadline(std::chrono::system_clock::now() + end_timeout);
  connect::InterruptResponse response;
  (void)state_->stub->Interrupt(&context, request, &response);
  const std::lock_guard lock(state_->mutex);
  if (state_->running != nullptr) state_->running->TryCancel();
}

}  // namespace sotto::spark
