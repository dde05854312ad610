import org.openapitools.client.ApiClient;
import org.openapitools.client.api.OperationsApi;

class Connection {
  static OperationsApi open(String url, String token) {
    ApiClient client = new ApiClient();
    client.updateBaseUri(url);
    client.setRequestInterceptor(request -> request.header("X-Internal-Token", token));
    return new OperationsApi(client);
  }
}
