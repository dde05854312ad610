import org.openapitools.client.ApiClient;
import org.openapitools.client.api.OperationsApi;

class Connection {
  static OperationsApi open(String url, String token) {
    ApiClient client = new ApiClient();
    client.setBasePath(url);
    client.setReadTimeout(60_000);
    client.setApiKey(token);
    return new OperationsApi(client);
  }
}
